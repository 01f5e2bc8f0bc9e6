"""`openai`: chat completions, Responses and moderations."""

import json

from helper import BASE_URL, CITIES, GREETING, IMAGE, KEY, POOR_KEY, REPORT, TASK
from helper import fails, holds, run, same, spend
from openai import APIStatusError, AuthenticationError, NotFoundError, OpenAI

client = OpenAI(base_url=BASE_URL, api_key=KEY)
poor = OpenAI(base_url=BASE_URL, api_key=POOR_KEY)
stranger = OpenAI(base_url=BASE_URL, api_key="sk-svc-none")
SCHEMA = {"type": "object", "properties": {"cidade": {"type": "string"}}, "required": ["cidade"]}


def said(text):
    return [{"role": "user", "content": text}]


def tools(model):
    messages, asked = said(TASK), []
    tool = {"type": "function", "function": {"name": "clima", "parameters": SCHEMA}}
    while True:
        answer = client.chat.completions.create(model=model, messages=messages, tools=[tool])
        message = answer.choices[0].message
        if not message.tool_calls:
            break
        messages.append(message)
        for call in message.tool_calls:
            asked.append(json.loads(call.function.arguments)["cidade"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "sol"})
    same(asked, CITIES)
    holds(message.content, REPORT)


def tools_in_responses(model):
    items, asked = said(TASK), []
    tool = {"type": "function", "name": "clima", "parameters": SCHEMA, "strict": False}
    while True:
        answer = client.responses.create(model=model, input=items, tools=[tool])
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            break
        items += answer.output
        for call in calls:
            asked.append(json.loads(call.arguments)["cidade"])
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": "sol"})
    same(asked, CITIES)
    holds(answer.output_text, REPORT)


def stream(model):
    with client.chat.completions.stream(
        model=model, messages=said(GREETING), stream_options={"include_usage": True}
    ) as events:
        seen = list(events)
        final = events.get_final_completion()
    text = "".join(event.delta for event in seen if event.type == "content.delta")
    holds(text, GREETING)
    same(final.choices[0].message.content, text)
    assert final.usage.total_tokens > 0
    # The library leaves fields that it does not know out of the completion that it adds up.
    *_, last = [event.chunk for event in seen if event.type == "chunk"]
    assert last.cost_billed_brl > 0


def stream_of_responses(model):
    with client.responses.stream(model=model, input=GREETING) as events:
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        same(events.get_final_response().output_text, text)
    holds(text, GREETING)


def image(model):
    content = [
        {"type": "text", "text": GREETING},
        {"type": "image_url", "image_url": {"url": IMAGE}},
    ]
    answer = client.chat.completions.create(model=model, messages=said(content))
    assert answer.usage.prompt_tokens > 700, "the image was not counted"


def image_in_responses(model):
    content = [
        {"type": "input_text", "text": GREETING},
        {"type": "input_image", "image_url": IMAGE, "detail": "auto"},
    ]
    answer = client.responses.create(model=model, input=said(content))
    assert answer.usage.input_tokens > 700, "the image was not counted"


def moderation(model):
    judged = client.moderations.create(input=["Olá!", "Vou matar alguém."])
    same([result.flagged for result in judged.results], [False, True])
    assert judged.results[1].categories.violence


def error(model):
    ask = {"model": "nada", "messages": said(GREETING)}
    same(fails(lambda: client.chat.completions.create(**ask), NotFoundError).code, "model_not_found")
    ask["model"] = model
    fails(lambda: stranger.chat.completions.create(**ask), AuthenticationError)
    fails(lambda: stranger.responses.create(model=model, input=GREETING), AuthenticationError)
    fails(lambda: client.models.retrieve("nada"), NotFoundError)
    same(client.models.retrieve(model).id, model)


def balance(model):
    def call():
        return poor.chat.completions.create(model=model, messages=said(GREETING))

    same(spend(call, APIStatusError).code, "insufficient_balance")
    fails(lambda: poor.responses.create(model=model, input=GREETING), APIStatusError, 402)


run(
    balance,
    tools=tools,
    tools_in_responses=tools_in_responses,
    stream=stream,
    stream_of_responses=stream_of_responses,
    image=image,
    image_in_responses=image_in_responses,
    moderation=moderation,
    error=error,
)
