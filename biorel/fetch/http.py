"""Requests to one service: paced, repeated where that may help, and only to the hosts that it is known by.

An answer counts when it could be read. So what reads it runs inside the loop of tries: a cut body, a web page with
status 200 or an error in the service's own words is asked for again, and nobody sees half an answer.

A key travels in the body of a POST, never in an address: addresses end in logs, of proxies too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError
from urllib3.util.retry import Retry

from biorel import __version__
from biorel.errors import FetchError
from biorel.fetch.pacing import CLOCK, Clock, Pace
from biorel.fetch.services import Service
from biorel.fetch.web_pages import asks_for_a_person, page_title

T = TypeVar("T")

TRIES = 6
LONGEST_BACKOFF = 60.0
# a service that asks for a longer pause is left alone, rather than asked again too early
LONGEST_WAIT = 300.0
_TIMEOUT = (20.0, 90.0)  # seconds to connect, and between two pieces of an answer
_AGAIN = frozenset({408, 425, 429})
_REDIRECTS = 5
_LONGEST_QUERY = 1500
_LARGEST_ANSWER = 32 * 2**20
_CHUNK = 2**16
_QUOTED = 160


class BadAnswerError(Exception):
    """An answer that is of no use, where asking again may help; `wait` is the pause that the service asks for."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


def _silent(line: str) -> None:
    pass


class Client:
    """A session with one service.

    Attributes:
        requests: how many were sent.
    """

    def __init__(
        self,
        service: Service,
        *,
        common: Mapping[str, str] | None = None,
        key: str = "",
        clock: Clock = CLOCK,
        tell: Callable[[str], None] = _silent,
    ) -> None:
        """Args:
        service: where, and how fast.
        common: parameters of every request.
        key: sent as `api_key`; allows a faster pace.
        tell: is told why something is asked for again.
        """
        self.service = service
        self.clock = clock
        self.tell = tell
        self.requests = 0
        self._key = key
        self._common = {**(common or {}), **({"api_key": key} if key else {})}
        self._pace = Pace(service.per_second_with_key if key else service.per_second, clock)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"biorel/{__version__}"

    def ask(self, path: str, parameters: Mapping[str, str], read: Callable[[bytes], T], *, post: bool = False) -> T:
        """What `read` makes of the answer; read raises BadAnswerError for one that should be asked for again.

        Raises:
            FetchError: no usable answer in all tries, or one that no other try can better.
        """
        return self.repeated(path, lambda: read(self.once(path, parameters, post=post)))

    def once(self, path: str, parameters: Mapping[str, str], *, post: bool = False) -> bytes:
        """The whole body of one answer, for use inside `repeated`.

        Raises:
            BadAnswerError, FetchError: as `opened`, or the body is a web page.
        """
        with self.opened(f"{self.service.url}/{path}", {**self._common, **parameters}, post=post) as response:
            body = bytearray()
            for piece in response.iter_content(_CHUNK):
                body += piece
                if len(body) > _LARGEST_ANSWER:
                    raise FetchError(f"{self.service.name}: {path}: an answer of more than {_LARGEST_ANSWER} bytes")
        content = bytes(body)
        self.refuse_page(content, path)
        return content

    def refuse_page(self, content: bytes, place: str) -> None:
        """Raises:
        FetchError: the content is a check for robots.
        BadAnswerError: it is another web page.
        """
        title = page_title(content)
        if title and asks_for_a_person(content):
            raise FetchError(f"{place}: a check for robots ({title}) instead of data", self.service.by_hand)
        if title:
            raise BadAnswerError(f"a {title} instead of data")

    def repeated(self, place: str, attempt: Callable[[], T]) -> T:
        """The result of the first attempt that raises neither BadAnswerError nor a network error.

        Pauses grow from one second to a minute, or are as long as the service asks for.

        Raises:
            FetchError: every try failed; its message holds no key.
        """
        retry = Retry(total=TRIES - 1, backoff_factor=1.0, backoff_max=LONGEST_BACKOFF)
        place = f"{self.service.name}: {place}"
        while True:
            wait = 0.0
            try:
                return attempt()
            except BadAnswerError as bad:
                fault, wait = self._safe(bad.reason), bad.wait
            except FetchError as error:
                raise FetchError(self._safe(error.message), error.hint) from None
            except (requests.RequestException, HTTPError) as error:
                fault = network_fault(error)
            if wait > LONGEST_WAIT:
                raise FetchError(f"{place}: {fault}; it asks for a pause of {wait:.0f} s", "try again after that")
            try:
                retry = retry.increment("GET", place)
            except MaxRetryError:
                hint = self.service.by_hand or "check the network, and try again later"
                raise FetchError(f"{place}: {fault} ({TRIES} tries)", hint) from None
            pause = max(wait, retry.get_backoff_time(), 1.0)
            self.tell(f"{place}: {fault}; again in {pause:.0f} s")
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
            BadAnswerError: a status that may pass.
            FetchError: another status that is not in `accept`, or a redirect elsewhere.
        """
        data = dict(parameters or {})
        post = post or bool(self._key and data) or len(urlencode(data)) > _LONGEST_QUERY
        for _ in range(_REDIRECTS + 1):
            self._pace.wait(self._permitted(url))
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
            # a GET's parameters are in the address that it is redirected to
            url, data = target, data if post else {}
        raise FetchError(f"{_bare(url)}: more than {_REDIRECTS} redirects")

    def _permitted(self, url: str) -> str:
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
        # the key goes before the text is cut, so that no half of it stays
        said = page_title(body) or self._safe(" ".join(body.decode("utf-8", "replace").split()))[:_QUOTED]
        reason = f"HTTP {status} {response.reason or ''}".strip() + (f": {said}" if said else "")
        if status in _AGAIN or status >= 500 or status in self.service.again:
            raise BadAnswerError(reason, _asked_pause(response))
        raise FetchError(f"{self.service.name}: {_bare(url)}: {reason}", self.service.by_hand)

    def _safe(self, text: str) -> str:
        """The text without the key: a service may send back what it was sent."""
        for secret in {self._key, quote(self._key, safe="")} - {""}:
            text = text.replace(secret, "***")
        return text


_NEW_ADDRESS = "if the service has moved, give its new address with --url"


def _asked_pause(response: requests.Response) -> float:
    try:
        return max(0.0, float(Retry().parse_retry_after(response.headers.get("Retry-After", "0"))))
    except InvalidHeader:
        return 0.0


def network_fault(error: BaseException) -> str:
    """What went wrong in a few words; the libraries' own messages hold whole addresses."""
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return "no answer in time"
    inner = error
    while (cause := inner.__cause__ or inner.__context__) is not None:
        inner = cause
    if isinstance(inner, OSError) and inner.strerror:
        return f"no connection ({inner.strerror})"
    return "the answer was cut short" if "IncompleteRead" in repr(error) else f"no answer ({type(inner).__name__})"


def _bare(url: str) -> str:
    """The address without its query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


# MERGED from sources.probe: Whether a service answers at all.
_ANY_STATUS = range(600)


def unreachable(client: Client) -> str:
    """Why the service cannot be reached, in one try; empty where it answers, with whatever status."""
    address = client.service.url
    try:
        with client.opened(address, accept=_ANY_STATUS):
            return ""
    except (FetchError, BadAnswerError) as error:
        # such as a redirect to the page of a hotel's network
        return str(error)
    except (requests.RequestException, HTTPError) as error:
        return f"{address}: {network_fault(error)}"
