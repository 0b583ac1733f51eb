import os

from slugify import slugify


def handle(event):
    """{"text": "Crème brûlée"} → {"slug": "creme-brulee"}"""
    text = event.get("text")
    if not isinstance(text, str):
        return {"statusCode": 400, "body": {"error": "text is missing"}}
    return {"slug": slugify(text, separator=os.environ["SEPARATOR"])}
