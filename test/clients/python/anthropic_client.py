"""`anthropic`: the Messages format."""

from anthropic import Anthropic, APIStatusError, AuthenticationError, NotFoundError
from helper import CITIES, GREETING, KEY, ORIGIN, POOR_KEY, REPORT, TASK, fails, holds, png, run, same, spend

client = Anthropic(base_url=ORIGIN, api_key=KEY)
poor = Anthropic(base_url=ORIGIN, api_key=POOR_KEY)
stranger = Anthropic(base_url=ORIGIN, api_key="sk-svc-none")
TOOL = {
    "name": "clima",
    "description": "O tempo de uma cidade.",
    "input_schema": {"type": "object", "properties": {"cidade": {"type": "string"}}, "required": ["cidade"]},
}


def ask(model, content):
    return {"model": model, "max_tokens": 1000, "messages": [{"role": "user", "content": content}]}


def tools(model):
    request, asked = ask(model, TASK), []
    while True:
        answer = client.messages.create(**request, tools=[TOOL])
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            break
        asked += [call.input["cidade"] for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "sol"} for call in calls]
        request["messages"] += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": results},
        ]
    same(answer.stop_reason, "end_turn")
    same(asked, CITIES)
    holds(answer.content[0].text, REPORT)


def stream(model):
    with client.messages.stream(**ask(model, GREETING)) as events:
        text = "".join(events.text_stream)
        final = events.get_final_message()
    holds(text, GREETING)
    same(final.content[0].text, text)
    assert final.usage.output_tokens > 0


def image(model):
    source = {"type": "base64", "media_type": "image/png", "data": png()}
    content = [{"type": "text", "text": GREETING}, {"type": "image", "source": source}]
    answer = client.messages.create(**ask(model, content))
    assert answer.usage.input_tokens > 700, "the image was not counted"
    counted = client.messages.count_tokens(model=model, messages=ask(model, content)["messages"])
    assert counted.input_tokens > 0


def error(model):
    fails(lambda: client.messages.create(**ask("nada", GREETING)), NotFoundError)
    refused = fails(lambda: stranger.messages.create(**ask(model, GREETING)), AuthenticationError)
    same(refused.body["error"]["type"], "authentication_error")
    assert model in [each.id for each in client.models.list(limit=100)]


def balance(model):
    spend(lambda: poor.messages.create(**ask(model, GREETING)), APIStatusError)


run(balance, tools=tools, stream=stream, image=image, error=error)
