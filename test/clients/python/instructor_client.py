"""`instructor`: objects of a class, by tools, by a JSON schema, and as they grow in a stream."""

import instructor
from helper import BASE_URL, GREETING, IMAGE, KEY, POOR_KEY, fails, run, same, spend
from instructor.core import InstructorRetryException
from openai import AuthenticationError, NotFoundError, OpenAI
from pydantic import BaseModel

WAYS = [instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA]


class Pedido(BaseModel):
    cidade: str
    quantidade: int


def at(way=instructor.Mode.TOOLS, key=KEY):
    return instructor.from_openai(OpenAI(base_url=BASE_URL, api_key=key), mode=way).chat.completions


def ask(model, content=GREETING):
    return {"model": model, "messages": [{"role": "user", "content": content}], "response_model": Pedido}


def tools(model):
    task = 'Faça:\nchame Pedido {"cidade": "Recife", "quantidade": 2}'
    same(at().create(**ask(model, task)).model_dump(), {"cidade": "Recife", "quantidade": 2})
    # The sandbox answers a schema with JSON that fits it.
    assert isinstance(at(instructor.Mode.JSON_SCHEMA).create(**ask(model)), Pedido)


def stream(model):
    for way in WAYS:
        *_, last = at(way).create_partial(**ask(model))
        assert isinstance(last.quantidade, int) and last.cidade, repr(last)


def image(model):
    content = [{"type": "text", "text": GREETING}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    for way in WAYS:
        _, answer = at(way).create_with_completion(**ask(model, content))
        assert answer.usage.prompt_tokens > 700, "the image was not counted"


def error(model):
    # It wraps what the library of OpenAI raised.
    unknown = fails(lambda: at().create(**ask("nada")), InstructorRetryException)
    assert isinstance(unknown.__cause__, NotFoundError), repr(unknown.__cause__)
    refused = fails(lambda: at(key="sk-svc-none").create(**ask(model)), InstructorRetryException)
    assert isinstance(refused.__cause__, AuthenticationError), repr(refused.__cause__)


def balance(model):
    poor = at(key=POOR_KEY)
    same(spend(lambda: poor.create(**ask(model)), InstructorRetryException, None).__cause__.status_code, 402)


run(balance, tools=tools, stream=stream, image=image, error=error)
