"""`llama-index`: its class for servers that speak OpenAI’s format."""

import asyncio

import openai
from helper import BASE_URL, CITIES, GREETING, KEY, POOR_KEY, REPORT, TASK, png
from helper import fails, holds, run, same, spend
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


def at(model, key=KEY):
    return OpenAILike(
        model=model,
        api_base=BASE_URL,
        api_key=key,
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=200_000,
    )


def tools(model):
    asked = []

    def clima(cidade: str) -> str:
        """O tempo de uma cidade."""
        asked.append(cidade)
        return "sol"

    async def work():
        agent = FunctionAgent(tools=[FunctionTool.from_defaults(clima)], llm=at(model))
        return str(await agent.run(TASK))

    holds(asyncio.run(work()), REPORT)
    same(asked, CITIES)


def stream(model):
    answers = list(at(model).stream_chat([ChatMessage(GREETING)]))
    holds(answers[-1].message.content, GREETING)
    same("".join(answer.delta for answer in answers), answers[-1].message.content)


def image(model):
    blocks = [TextBlock(text=GREETING), ImageBlock(image=png().encode(), image_mimetype="image/png")]
    answer = at(model).chat([ChatMessage(role="user", blocks=blocks)])
    assert answer.raw.usage.prompt_tokens > 700, "the image was not counted"


def error(model):
    fails(lambda: at("nada").chat([ChatMessage(GREETING)]), openai.NotFoundError)
    fails(lambda: at(model, "sk-svc-none").chat([ChatMessage(GREETING)]), openai.AuthenticationError)


def balance(model):
    spend(lambda: at(model, POOR_KEY).chat([ChatMessage(GREETING)]), openai.APIStatusError)


run(balance, tools=tools, stream=stream, image=image, error=error)
