"""Whether a service answers at all."""

from __future__ import annotations

import requests
from urllib3.exceptions import HTTPError

from biorel.errors import FetchError
from biorel.sources.http import BadAnswerError, Client, network_fault

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
