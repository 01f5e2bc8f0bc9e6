"""`langchain-openai` (chat completions, and Responses) and `langchain-anthropic`."""

import anthropic
import openai
from helper import BASE_URL, CITIES, GREETING, IMAGE, KEY, ORIGIN, POOR_KEY, REPORT, TASK, png
from helper import fails, holds, run, same, spend
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def clima(cidade: str) -> str:
    """O tempo de uma cidade."""
    return "sol"


def chat(model, key=KEY):
    return ChatOpenAI(model=model, base_url=BASE_URL, api_key=key, stream_usage=True)


def responses(model, key=KEY):
    return ChatOpenAI(model=model, base_url=BASE_URL, api_key=key, use_responses_api=True)


def messages(model, key=KEY):
    return ChatAnthropic(model=model, base_url=ORIGIN, api_key=key, max_tokens=1000)


KINDS = [chat, responses, messages]


def tools(model):
    for kind in KINDS:
        turns, asked = [HumanMessage(TASK)], []
        bound = kind(model).bind_tools([clima])
        while True:
            answer = bound.invoke(turns)
            turns.append(answer)
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                asked.append(call["args"]["cidade"])
                turns.append(ToolMessage(clima.invoke(call["args"]), tool_call_id=call["id"]))
        same(asked, CITIES)
        holds(answer.text, REPORT)


def stream(model):
    for kind in KINDS:
        whole = None
        for chunk in kind(model).stream(GREETING):
            whole = chunk if whole is None else whole + chunk
        holds(whole.text, GREETING)
        assert whole.usage_metadata["output_tokens"] > 0, kind.__name__


def image(model):
    by_address = {"type": "image_url", "image_url": {"url": IMAGE}}
    of_all_providers = {"type": "image", "base64": png(), "mime_type": "image/png"}
    for kind in KINDS:
        for part in [by_address, of_all_providers]:
            answer = kind(model).invoke([HumanMessage([{"type": "text", "text": GREETING}, part])])
            assert answer.usage_metadata["input_tokens"] > 700, f"{kind.__name__}: the image was not counted"


def error(model):
    for kind, library in [(chat, openai), (responses, openai), (messages, anthropic)]:
        fails(lambda: kind("nada").invoke(GREETING), library.NotFoundError)
        fails(lambda: kind(model, "sk-svc-none").invoke(GREETING), library.AuthenticationError)


def balance(model):
    spend(lambda: chat(model, POOR_KEY).invoke(GREETING), openai.APIStatusError)
    fails(lambda: responses(model, POOR_KEY).invoke(GREETING), openai.APIStatusError, 402)
    fails(lambda: messages(model, POOR_KEY).invoke(GREETING), anthropic.APIStatusError, 402)


run(balance, tools=tools, stream=stream, image=image, error=error)
