def compose(answer):
    import json

    return json.dumps(answer, indent=1)
