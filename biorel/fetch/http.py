"""Sends HTTP requests to one service at a limited pace, retries them where that may help, and stays on its hosts.

An answer counts as received only after it has been parsed. The parser therefore runs inside the retry loop: a
truncated body, a web page with status 200 or an error message from the service leads to another request.

An API key is sent in the body of a POST request, never in the address, because addresses are logged.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, NoReturn, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError
from urllib3.util.retry import Retry

from biorel import __version__
from biorel.errors import FetchError
from biorel.fetch.services import Service

T = TypeVar("T")

TRIES = 6
MAX_BACKOFF = 60.0
# if a service asks for a longer pause, the command stops rather than asking again too early
MAX_WAIT = 300.0
MAX_ANSWER = 32 * 2**20
_TIMEOUT = (20.0, 90.0)  # seconds to connect, and between two chunks of an answer
_RETRY_STATUSES = frozenset({408, 425, 429})
_ANY_STATUS = range(600)
_MAX_REDIRECTS = 5
_MAX_QUERY = 1500  # characters in an address; longer parameters are sent by POST
_CHUNK = 2**16
_QUOTED = 160
_NEW_ADDRESS = "if the service has moved, give its new address with --url"
# the pause between two requests is 10 % longer than necessary, so that delays on the way do not bunch them on arrival
_PAUSE_MARGIN = 1.1

_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_CAPTCHA = re.compile(
    rb"captcha|altcha|verify (?:that )?you are (?:a )?human|not a robot|unusual traffic", re.IGNORECASE
)
_TITLE_SHOWN = 80


class Clock(NamedTuple):
    """A monotonic clock in seconds, and a function that sleeps. Tests pass their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


CLOCK = Clock()


class Pace:
    """Limits the requests to each host to `per_second` in any second."""

    def __init__(self, per_second: float, clock: Clock = CLOCK) -> None:
        self._interval = _PAUSE_MARGIN / per_second
        self._clock = clock
        self._next: dict[str, float] = {}

    def wait(self, host: str) -> None:
        """Return when the next request to the host is allowed."""
        now = self._clock.now()
        due = self._next.get(host, now)
        if due > now:
            self._clock.sleep(due - now)
        self._next[host] = max(due, now) + self._interval


class BadAnswerError(Exception):
    """The service sent an unusable answer, and asking again may help.

    Attributes:
        reason: the reason, as messages show it.
        wait: the pause that the service asks for, in seconds.
    """

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


def _silent(line: str) -> None:
    pass


class Client:
    """A session with one service.

    Attributes:
        requests: number of requests sent.
    """

    def __init__(
        self,
        service: Service,
        *,
        common: Mapping[str, str] | None = None,
        key: str = "",
        clock: Clock = CLOCK,
        report: Callable[[str], None] = _silent,
    ) -> None:
        """Args:
        service: has the address, the allowed hosts and the pace.
        common: the parameters that every request has.
        key: the API key, sent as `api_key`; it allows a faster pace.
        clock: measures and makes the pauses.
        report: receives a line of text for every retry.
        """
        self.service = service
        self.clock = clock
        self.report = report
        self.requests = 0
        self._key = key
        self._common = {**(common or {}), **({"api_key": key} if key else {})}
        self._pace = Pace(service.per_second_with_key if key else service.per_second, clock)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"biorel/{__version__}"

    def ask(self, path: str, parameters: Mapping[str, str], read: Callable[[bytes], T], *, post: bool = False) -> T:
        """The answer to a request, parsed by `read`, which raises BadAnswerError where a retry may help.

        Raises:
            FetchError: no try gave a usable answer, or a retry cannot help.
        """
        return self.repeat(path, lambda: read(self.once(path, parameters, post=post)))

    def once(self, path: str, parameters: Mapping[str, str], *, post: bool = False) -> bytes:
        """The whole body of one answer, for use inside `repeat`.

        Raises:
            BadAnswerError, FetchError: as for `opened`, or the body is a web page.
        """
        with self.opened(f"{self.service.url}/{path}", {**self._common, **parameters}, post=post) as response:
            body = bytearray()
            for chunk in response.iter_content(_CHUNK):
                body += chunk
                if len(body) > MAX_ANSWER:
                    raise FetchError(f"{self.service.name}: {path}: the answer is longer than {MAX_ANSWER} bytes")
        content = bytes(body)
        self.refuse_page(content, path)
        return content

    def refuse_page(self, content: bytes, place: str) -> None:
        """Raises:
        FetchError: the content is a CAPTCHA page.
        BadAnswerError: the content is another web page.
        """
        title = page_title(content)
        if title and is_captcha(content):
            raise FetchError(
                f"{place}: the service sent a check for robots ({title}) instead of data", self.service.by_hand
            )
        if title:
            raise BadAnswerError(f"the service sent a {title} instead of data")

    def repeat(self, place: str, attempt: Callable[[], T]) -> T:
        """The result of the first attempt without a BadAnswerError or a network error.

        The pause grows from one second to `MAX_BACKOFF`, or is as long as the service asks for.

        Raises:
            FetchError: every try failed. The message does not contain the key.
        """
        retry = Retry(total=TRIES - 1, backoff_factor=1.0, backoff_max=MAX_BACKOFF)
        place = f"{self.service.name}: {place}"
        while True:
            wait = 0.0
            try:
                return attempt()
            except BadAnswerError as bad:
                fault, wait = self._without_key(bad.reason), bad.wait
            except FetchError as error:
                raise FetchError(self._without_key(error.message), error.hint) from None
            except (requests.RequestException, HTTPError) as error:
                fault = network_fault(error)
            if wait > MAX_WAIT:
                raise FetchError(
                    f"{place}: {fault}; the service asks for a pause of {wait:.0f} s", "try again after that pause"
                )
            try:
                retry = retry.increment("GET", place)
            except MaxRetryError:
                hint = self.service.by_hand or "check the network, and try again later"
                raise FetchError(f"{place}: {fault} ({TRIES} tries)", hint) from None
            pause = max(wait, retry.get_backoff_time(), 1.0)
            self.report(f"{place}: {fault}; retrying in {pause:.0f} s")
            self.clock.sleep(pause)

    @contextmanager
    def opened(
        self,
        url: str,
        parameters: Mapping[str, str] | None = None,
        *,
        post: bool = False,
        headers: Mapping[str, str] | None = None,
        accept: Collection[int] = (200,),
    ) -> Iterator[requests.Response]:
        """One answer with its body unread, after redirects within the service's hosts.

        Raises:
            BadAnswerError: the status may be temporary.
            FetchError: the status is an error that is not in `accept`, or the service redirects to another host.
        """
        data = dict(parameters or {})
        post = post or bool(self._key and data) or len(urlencode(data)) > _MAX_QUERY
        for _ in range(_MAX_REDIRECTS + 1):
            self._pace.wait(self._allowed_host(url))
            self.requests += 1
            with self._session.request(
                "POST" if post else "GET",
                url,
                params=None if post else data,
                data=data if post else None,
                headers=dict(headers or {}),
                timeout=_TIMEOUT,
                stream=True,
                allow_redirects=False,
            ) as response:
                if not response.is_redirect:
                    if response.status_code not in accept:
                        self._refuse_status(response, url)
                    yield response
                    return
                if post and response.status_code not in (307, 308):
                    raise FetchError(f"{_bare(url)}: redirects a POST (HTTP {response.status_code})", _NEW_ADDRESS)
                target = urljoin(url, response.headers["Location"])
            if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
                raise FetchError(f"{_bare(url)}: redirects from https to {_bare(target)}; not followed")
            # the address that a GET is redirected to includes its parameters
            url, data = target, data if post else {}
        raise FetchError(f"{_bare(url)}: more than {_MAX_REDIRECTS} redirects")

    def _allowed_host(self, url: str) -> str:
        host = urlsplit(url).netloc.lower()
        if host not in self.service.hosts:
            known = ", ".join(sorted(self.service.hosts))
            raise FetchError(f"{self.service.name}: redirects to {_bare(url)}, which is not {known}", _NEW_ADDRESS)
        return host

    def _refuse_status(self, response: requests.Response, url: str) -> NoReturn:
        status = response.status_code
        try:
            body = response.raw.read(_CHUNK, decode_content=True)
        except (HTTPError, OSError):
            body = b""
        # remove the key before the text is shortened, so that no part of the key remains
        answer = page_title(body) or self._without_key(" ".join(body.decode("utf-8", "replace").split()))[:_QUOTED]
        reason = f"HTTP {status} {response.reason or ''}".strip() + (f": {answer}" if answer else "")
        if status in _RETRY_STATUSES or status >= 500 or status in self.service.retry_statuses:
            raise BadAnswerError(reason, _requested_pause(response))
        raise FetchError(f"{self.service.name}: {_bare(url)}: {reason}", self.service.by_hand)

    def _without_key(self, text: str) -> str:
        """The text with the API key masked, as a service may repeat the request in its answer."""
        for secret in {self._key, quote(self._key, safe="")} - {""}:
            text = text.replace(secret, "***")
        return text


def unreachable(client: Client) -> str:
    """The reason why a service cannot be reached, after one try; empty if the service answers with any status."""
    address = client.service.url
    try:
        with client.opened(address, accept=_ANY_STATUS):
            return ""
    except (FetchError, BadAnswerError) as error:
        # for example a redirect to the login page of a public network
        return str(error)
    except (requests.RequestException, HTTPError) as error:
        return f"{address}: {network_fault(error)}"


def network_fault(error: BaseException) -> str:
    """A short description of a network error. The libraries' own messages contain whole addresses."""
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return "no answer in time"
    inner = error
    while (cause := inner.__cause__ or inner.__context__) is not None:
        inner = cause
    if isinstance(inner, OSError) and inner.strerror:
        return f"no connection ({inner.strerror})"
    return "the answer was cut short" if "IncompleteRead" in repr(error) else f"no answer ({type(inner).__name__})"


def page_title(head: bytes) -> str | None:
    """A description of a web page by its title; None if the bytes are not a web page.

    Services send a page instead of data, often with status 200, when they are down or show a CAPTCHA.
    """
    if not _PAGE.match(head):
        return None
    title = _TITLE.search(head)
    words = " ".join(title[1].decode("utf-8", "replace").split()) if title else ""
    return f"web page {words[:_TITLE_SHOWN]!r}" if words else "web page"


def is_captcha(page: bytes) -> bool:
    """Whether a page is a check for robots, which a retry cannot pass."""
    return bool(_CAPTCHA.search(page))


def _requested_pause(response: requests.Response) -> float:
    try:
        return max(0.0, float(Retry().parse_retry_after(response.headers.get("Retry-After", "0"))))
    except InvalidHeader:
        return 0.0


def _bare(url: str) -> str:
    """The address without its query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
