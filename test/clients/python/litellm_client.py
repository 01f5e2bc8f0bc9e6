"""`litellm` as a library, with the base address of a gateway: by chat completions, and by Messages."""

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from helper import BASE_URL, CITIES, GREETING, IMAGE, KEY, ORIGIN, POOR_KEY, REPORT, TASK
from helper import fails, holds, run, same, spend

litellm.suppress_debug_info = True
TOOL = {
    "type": "function",
    "function": {
        "name": "clima",
        "description": "O tempo de uma cidade.",
        "parameters": {"type": "object", "properties": {"cidade": {"type": "string"}}, "required": ["cidade"]},
    },
}


def ask(model, content, key=KEY, provider="openai", **more):
    base = BASE_URL if provider == "openai" else ORIGIN
    messages = content if isinstance(content, list) and "role" in content[0] else [{"role": "user", "content": content}]
    return litellm.completion(
        model=f"{provider}/{model}", api_base=base, api_key=key, messages=messages, max_tokens=500, **more
    )


def tools(model, provider="openai"):
    messages, asked = [{"role": "user", "content": TASK}], []
    while True:
        message = ask(model, messages, provider=provider, tools=[TOOL]).choices[0].message
        if not message.tool_calls:
            break
        messages.append(message)
        for call in message.tool_calls:
            asked.append(json.loads(call.function.arguments)["cidade"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "sol"})
    same(asked, CITIES)
    holds(message.content, REPORT)


def stream(model, provider="openai"):
    chunks = list(ask(model, GREETING, provider=provider, stream=True, stream_options={"include_usage": True}))
    whole = litellm.stream_chunk_builder(chunks)
    holds(whole.choices[0].message.content, GREETING)
    assert whole.usage.completion_tokens > 0


def image(model, provider="openai"):
    content = [{"type": "text", "text": GREETING}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    answer = ask(model, content, provider=provider)
    assert answer.usage.prompt_tokens > 700, "the image was not counted"


def error(model):
    for provider in ["openai", "anthropic"]:
        fails(lambda: ask("nada", GREETING, provider=provider), litellm.NotFoundError, 404)
        fails(lambda: ask(model, GREETING, "sk-svc-none", provider), litellm.AuthenticationError, 401)


def balance(model):
    spend(lambda: ask(model, GREETING, POOR_KEY), litellm.exceptions.APIError)
    fails(lambda: ask(model, GREETING, POOR_KEY, "anthropic"), litellm.exceptions.PaymentRequiredError, 402)


run(
    balance,
    tools=tools,
    tools_in_messages=lambda model: tools(model, "anthropic"),
    stream=stream,
    stream_of_messages=lambda model: stream(model, "anthropic"),
    image=image,
    image_in_messages=lambda model: image(model, "anthropic"),
    error=error,
)
