"""`openai-agents`: loops of tools by Responses, its default, and by chat completions."""

import asyncio

import openai
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from helper import BASE_URL, CITIES, GREETING, IMAGE, KEY, POOR_KEY, REPORT, TASK
from helper import fails, holds, run, same, spend

# Traces would go to another address.
set_tracing_disabled(True)
KINDS = [OpenAIResponsesModel, OpenAIChatCompletionsModel]
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)


def agent(kind, model, key=KEY, tools=()):
    client = openai.AsyncOpenAI(base_url=BASE_URL, api_key=key)
    return Agent(name="agente", instructions="Responda.", model=kind(model, client), tools=list(tools))


def ask(asked, content=GREETING):
    return loop.run_until_complete(Runner.run(asked, content))


def tools(model):
    for kind in KINDS:
        asked = []

        @function_tool
        def clima(cidade: str) -> str:
            """O tempo de uma cidade."""
            asked.append(cidade)
            return "sol"

        holds(ask(agent(kind, model, tools=[clima]), TASK).final_output, REPORT)
        same(asked, CITIES)


def stream(model):
    async def read(kind):
        result = Runner.run_streamed(agent(kind, model), GREETING)
        deltas = [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
        ]
        return "".join(deltas), result.final_output

    for kind in KINDS:
        text, final = loop.run_until_complete(read(kind))
        holds(text, GREETING)
        same(final, text)


def image(model):
    content = [
        {"type": "input_text", "text": GREETING},
        {"type": "input_image", "image_url": IMAGE, "detail": "auto"},
    ]
    for kind in KINDS:
        usage = ask(agent(kind, model), [{"role": "user", "content": content}]).context_wrapper.usage
        assert usage.input_tokens > 700, f"{kind.__name__}: the image was not counted"


def error(model):
    for kind in KINDS:
        fails(lambda: ask(agent(kind, "nada")), openai.NotFoundError)
        fails(lambda: ask(agent(kind, model, "sk-svc-none")), openai.AuthenticationError)


def balance(model):
    spend(lambda: ask(agent(OpenAIResponsesModel, model, POOR_KEY)), openai.APIStatusError)
    fails(lambda: ask(agent(OpenAIChatCompletionsModel, model, POOR_KEY)), openai.APIStatusError, 402)


run(balance, tools=tools, stream=stream, image=image, error=error)
