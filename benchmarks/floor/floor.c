/* The floor: what the kernel forces a server to do. recv, count the blank lines, send a constant; nothing is parsed.
 *
 * usage: floor PORT     One epoll loop on 127.0.0.1. The answer has the size of what the real servers send.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, INPUT = 65536, BATCH = 512, CONNECTIONS = 65536 };

static const char ANSWER[] =
    "HTTP/1.1 200 OK\r\n"
    "Server: floor\r\n"
    "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 12\r\n"
    "\r\n"
    "Hello world!";

static char answers[BATCH * (sizeof ANSWER - 1)];
static unsigned char matched[CONNECTIONS]; /* bytes of CR LF CR LF seen at the end of the last input, by descriptor */

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int listen_on(int port) {
    int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
    if (listen(fd, 1024) < 0) fail("listen");
    return fd;
}

static void watch(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
}

static void accept_all(int epoll, int listener) {
    int fd, yes = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= CONNECTIONS) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        matched[fd] = 0;
        watch(epoll, fd);
    }
}

/* Blank lines in the input; a blank line may be cut by the end of a read, hence the carried state. */
static int count_requests(int fd, const char *input, ssize_t length) {
    int count = 0;
    unsigned char state = matched[fd];
    for (const char *at = input, *end = input + length; at < end;) {
        if (state == 0) {
            at = memchr(at, '\r', end - at);
            if (!at) break;
            at++, state = 1;
            continue;
        }
        char wanted = state % 2 ? '\n' : '\r';
        if (*at == wanted) {
            at++;
            if (++state == 4) count++, state = 0;
        } else {
            state = 0;
        }
    }
    matched[fd] = state;
    return count;
}

/* The load waits for its answers, so a socket buffer that is full is a broken set-up, not a case to handle. */
static int answer(int fd, int count) {
    while (count > 0) {
        int batch = count < BATCH ? count : BATCH;
        size_t size = (size_t)batch * (sizeof ANSWER - 1);
        if (send(fd, answers, size, MSG_NOSIGNAL) != (ssize_t)size) return -1;
        count -= batch;
    }
    return 0;
}

static void serve(int fd) {
    static char input[INPUT];
    ssize_t length = recv(fd, input, sizeof input, 0);
    if (length < 0 && errno == EAGAIN) return;
    if (length <= 0 || answer(fd, count_requests(fd, input, length)) < 0) close(fd);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: floor PORT\n");
        return 2;
    }
    for (int i = 0; i < BATCH; i++) memcpy(answers + i * (sizeof ANSWER - 1), ANSWER, sizeof ANSWER - 1);
    int listener = listen_on(atoi(argv[1]));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail("epoll_create1");
    watch(epoll, listener);
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == listener)
                accept_all(epoll, listener);
            else
                serve(events[i].data.fd);
        }
    }
}
