def handle(event, context):
    """Turnover by item, the best first; the result is the job's message."""
    sales = sorted(event["sales"], key=lambda sale: sale["price"] * sale["sold"], reverse=True)
    turnover = {sale["item"]: round(sale["price"] * sale["sold"], 2) for sale in sales}
    return {"total": round(sum(turnover.values()), 2), "turnover": turnover}
