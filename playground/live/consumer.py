"""(written next)"""
from channels.generic.websocket import AsyncWebsocketConsumer


class Connection(AsyncWebsocketConsumer):
    """The consumer."""
