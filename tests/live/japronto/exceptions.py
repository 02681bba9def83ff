"""Tutorial 6: exceptions that are answers, one that is a defect, a 404 of one's own."""

from tarmac.compat.japronto import Application, RouteNotFoundException


class KittyError(Exception):
    greet = "meow"


class DoggieError(Exception):
    greet = "woof"


def cat(request):
    raise KittyError


async def dog(request):
    raise DoggieError


def unhandled(request):
    return 1 / 0


def handle_cat(request, exception):
    return request.Response(text=f"Only a kitty: {exception.greet}")


def handle_dog(request, exception):
    return request.Response(text=f"Only a doggie: {exception.greet}")


def handle_not_found(request, exception):
    return request.Response(code=404, text="Lost your way?")


app = Application()
router = app.router
router.add_route("/cat", cat)
router.add_route("/dog", dog)
router.add_route("/unhandled", unhandled)
app.add_error_handler(KittyError, handle_cat)
app.add_error_handler(DoggieError, handle_dog)
app.add_error_handler(RouteNotFoundException, handle_not_found)
app.run()
