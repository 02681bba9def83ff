"""The behaviour of test_hosting.py in Django: `asgi` and `wsgi` are its two applications."""

import asyncio
import hashlib
import json
import threading

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="only for tests",
    DATA_UPLOAD_MAX_MEMORY_SIZE=None,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
)
django.setup()
log = []
released = threading.Event()


def hello(request):
    return HttpResponse("Hello world!", content_type="text/plain; charset=utf-8")


def item(request, number, name):
    return JsonResponse({"number": number, "name": name})


def query(request):
    return JsonResponse(dict(request.GET.lists()))


def echo(request):
    return JsonResponse({"got": json.loads(request.body)})


def form(request):
    return JsonResponse(request.POST.dict())


def cookies(request):
    response = JsonResponse(request.COOKIES)
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


def headers(request):
    return JsonResponse(request.headers["X-Multi"], safe=False)


def redirect(request):
    return HttpResponseRedirect("/hello")


def error(request):
    raise RuntimeError("on purpose")


def upload(request):
    return JsonResponse({"length": len(request.body), "sha256": hashlib.sha256(request.body).hexdigest()})


def upload_pieces(request):
    digest, length, pieces = hashlib.sha256(), 0, 0
    while piece := request.read(65536):
        digest.update(piece)
        length += len(piece)
        pieces += 1
    return JsonResponse({"length": length, "sha256": digest.hexdigest(), "pieces": pieces})


def stream(request):
    def lines():
        yield "one\n"
        released.wait(10)
        released.clear()
        yield "two\n"

    async def lines_later():
        yield "one\n"
        await asyncio.to_thread(released.wait, 10)
        released.clear()
        yield "two\n"

    asynchronous = hasattr(request, "scope")
    return StreamingHttpResponse(lines_later() if asynchronous else lines(), content_type="text/plain")


def release(request):
    released.set()
    return HttpResponse("released")


async def wait(request):
    log.append("waiting")
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        log.append("disconnect seen")
        raise
    return HttpResponse("nobody went")


def told(request):
    return JsonResponse(log, safe=False)


urlpatterns = [
    path("hello", hello),
    path("items/<int:number>/<str:name>", item),
    path("query", query),
    path("json", echo),
    path("form", form),
    path("cookies", cookies),
    path("headers", headers),
    path("redirect", redirect),
    path("error", error),
    path("upload", upload),
    path("upload-pieces", upload_pieces),
    path("stream", stream),
    path("release", release),
    path("wait", wait),
    path("log", told),
]

asgi = get_asgi_application()
wsgi = get_wsgi_application()
