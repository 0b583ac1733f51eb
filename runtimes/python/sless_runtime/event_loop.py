"""One asyncio loop in a thread of its own runs all asynchronous handlers; imported only when there is one."""

import asyncio
import threading

_END = object()


class EventLoop:
    def __init__(self):
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True, name="sless-loop").start()

    def run(self, call, awaitable):
        """Waits in the caller's thread until the awaitable has ended, which the call's `cancel` may hasten."""
        ended = threading.Event()
        tasks = []

        def start():
            call.running = True
            call.thread_id = threading.get_ident()
            task = self._loop.create_task(_await(awaitable))
            tasks.append(task)
            task.add_done_callback(finish)
            call.became_cancellable(lambda: self._loop.call_soon_threadsafe(task.cancel))

        def finish(_task):
            call.running = False
            ended.set()

        self._loop.call_soon_threadsafe(start)
        ended.wait()
        return tasks[0].result()

    def chunks(self, call, stream):
        """The items of an asynchronous iterator, pulled one at a time as the client takes them."""
        try:
            while True:
                item = self.run(call, _next(stream))
                if item is _END:
                    return
                yield item
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None and not call.expired:
                self.run(call, close())


async def _await(awaitable):
    return await awaitable


async def _next(stream):
    try:
        return await stream.__anext__()
    except StopAsyncIteration:
        return _END
