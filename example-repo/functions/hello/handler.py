def handle(event, context):
    return {"message": f"Hello, {event.get('name', 'world')}!"}
