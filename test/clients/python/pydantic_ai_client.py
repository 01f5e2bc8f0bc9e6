"""`pydantic-ai`: its models of chat completions, Responses and Messages."""

import asyncio
import base64

from helper import BASE_URL, CITIES, GREETING, KEY, ORIGIN, POOR_KEY, REPORT, TASK, png
from helper import fails, holds, run, same, spend
from pydantic_ai import Agent, BinaryContent, ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def chat(model, key=KEY):
    return OpenAIChatModel(model, provider=OpenAIProvider(base_url=BASE_URL, api_key=key))


def responses(model, key=KEY):
    return OpenAIResponsesModel(model, provider=OpenAIProvider(base_url=BASE_URL, api_key=key))


def messages(model, key=KEY):
    return AnthropicModel(model, provider=AnthropicProvider(base_url=ORIGIN, api_key=key))


KINDS = [chat, responses, messages]
loop = asyncio.new_event_loop()


def ask(model, content=GREETING, tools=()):
    return loop.run_until_complete(Agent(model, tools=tools).run(content))


def tools(model):
    for kind in KINDS:
        asked = []

        def clima(cidade: str) -> str:
            """O tempo de uma cidade."""
            asked.append(cidade)
            return "sol"

        answer = ask(kind(model), TASK, [clima])
        same(asked, CITIES)
        holds(answer.output, REPORT)


def stream(model):
    async def read(kind):
        async with Agent(kind(model)).run_stream(GREETING) as result:
            return "".join([text async for text in result.stream_text(delta=True)]), result.usage

    for kind in KINDS:
        text, usage = loop.run_until_complete(read(kind))
        holds(text, GREETING)
        assert usage.output_tokens > 0


def image(model):
    dot = BinaryContent(base64.b64decode(png()), media_type="image/png")
    for kind in KINDS:
        usage = ask(kind(model), [GREETING, dot]).usage
        assert usage.input_tokens > 700, f"{kind.__name__}: the image was not counted"


def error(model):
    for kind in KINDS:
        fails(lambda: ask(kind("nada")), ModelHTTPError, 404)
        fails(lambda: ask(kind(model, "sk-svc-none")), ModelHTTPError, 401)


def balance(model):
    spend(lambda: ask(chat(model, POOR_KEY)), ModelHTTPError)
    for kind in [responses, messages]:
        fails(lambda: ask(kind(model, POOR_KEY)), ModelHTTPError, 402)


run(balance, tools=tools, stream=stream, image=image, error=error)
