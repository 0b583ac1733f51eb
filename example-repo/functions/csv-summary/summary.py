import csv
import io
import statistics


async def handle(event, context):
    """A CSV with a header → rows, and smallest, largest, mean of each column of numbers."""
    if not isinstance(event, str):
        return {"statusCode": 415, "body": {"error": "send a CSV with content-type: text/csv"}}
    rows = list(csv.DictReader(io.StringIO(event)))
    context.logger.info("summing up %d rows", len(rows))
    columns = {name: _summary([row[name] for row in rows]) for name in (rows[0] if rows else [])}
    return {"rows": len(rows), "columns": {name: seen for name, seen in columns.items() if seen}}


def _summary(values):
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        return None
    return {"min": min(numbers), "max": max(numbers), "mean": round(statistics.fmean(numbers), 3)}
