"""subscriptions/listen: long-lived streams of changes."""

from collections.abc import Mapping

from mcpcheck.reference.call import Call, InvalidParams, Json
from mcpcheck.reference.core import Core
from mcpcheck.reference.resources import valid_uri
from mcpcheck.wire.protocol import SUBSCRIPTION_ID

LISTS = {
    "tools": ("toolsListChanged", "notifications/tools/list_changed"),
    "prompts": ("promptsListChanged", "notifications/prompts/list_changed"),
    "resources": ("resourcesListChanged", "notifications/resources/list_changed"),
}
"""For each kind of list: the member of the filter, and the notification."""


class Subscriptions(Core):
    """The open subscriptions of one connection."""

    def subscriptions(self) -> list[Call]:
        """The requests whose subscriptions are open, in order of arrival."""
        return [call for call in self.open if call.granted is not None]

    def listen(self, call: Call) -> None:
        """Open a subscription: acknowledge it, and leave its request open."""
        wanted: Json = call.params.get("notifications")
        self.check_filter(wanted)
        call.granted = self.granted(call, wanted)
        self.acknowledge(call)

    def check_filter(self, wanted: Json) -> None:
        """Refuse a filter that has not the form of one."""
        if not isinstance(wanted, dict):
            raise InvalidParams("notifications is not an object")
        for member, _ in LISTS.values():
            if not isinstance(wanted.get(member, False), bool):
                raise InvalidParams(f"notifications.{member} is not a boolean")
        uris = wanted.get("resourceSubscriptions", [])
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise InvalidParams("notifications.resourceSubscriptions is not an array of strings")

    def granted(self, call: Call, wanted: Mapping[str, Json]) -> dict[str, Json]:
        """The part of a filter that will be honoured."""
        granted: dict[str, Json] = {member: True for member, _ in LISTS.values() if wanted.get(member)}
        uris = [uri for uri in wanted.get("resourceSubscriptions", []) if valid_uri(uri)]
        if uris:
            granted["resourceSubscriptions"] = uris
        return granted

    def acknowledge(self, subscription: Call) -> None:
        """Say what was granted: the first message of a subscription."""
        self.deliver(subscription, "notifications/subscriptions/acknowledged", {"notifications": subscription.granted})

    def deliver(self, subscription: Call, method: str, params: dict[str, Json]) -> None:
        """Send a notification on a subscription."""
        meta = {SUBSCRIPTION_ID: self.subscription_id(subscription)}
        self.notify(method, {"_meta": meta, **params}, subscription)

    def subscription_id(self, subscription: Call) -> Json:
        """The name of a subscription: the id of its request."""
        return subscription.id

    def publish(self, kind: str, uri: str | None) -> None:
        """Send a change to the subscriptions that asked for it."""
        for subscription in self.subscriptions():
            if kind == "resource":
                if self.wants_resource(subscription, uri):
                    self.deliver(subscription, "notifications/resources/updated", {"uri": uri})
            elif self.wants_list(subscription, kind):
                self.deliver(subscription, LISTS[kind][1], {})

    def wants_list(self, subscription: Call, kind: str) -> bool:
        """Whether a subscription was granted the changes of a list."""
        return (subscription.granted or {}).get(LISTS[kind][0]) is True

    def wants_resource(self, subscription: Call, uri: str | None) -> bool:
        """Whether a subscription was granted the changes of a resource."""
        return uri in (subscription.granted or {}).get("resourceSubscriptions", [])

    def end_subscriptions(self) -> None:
        """End every subscription from the server's side."""
        for subscription in self.subscriptions():
            self.end_subscription(subscription)

    def end_subscription(self, subscription: Call) -> None:
        """End one: its result, and on stdio the notice of cancellation that belongs to it."""
        self.answer(subscription, self.subscription_result(subscription))
        if self.announces_teardown:
            params = {"requestId": subscription.id, "reason": "The server ends the subscription"}
            self.notify("notifications/cancelled", params, subscription)

    def subscription_result(self, subscription: Call) -> dict[str, Json]:
        """The result that ends a subscription."""
        return {"_meta": {SUBSCRIPTION_ID: self.subscription_id(subscription)}}

    announces_teardown = True
    """Whether a subscription that the server ends is announced as cancelled: on stdio."""
