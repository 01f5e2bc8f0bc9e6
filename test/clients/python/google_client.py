"""`google-genai`: Google's format."""

import base64

from google import genai
from google.genai import errors, types
from helper import CITIES, GREETING, KEY, ORIGIN, POOR_KEY, TASK, fails, holds, png, run, same, spend


def client_of(key):
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=ORIGIN))


client = client_of(KEY)
poor = client_of(POOR_KEY)
stranger = client_of("sk-svc-none")


def ask(model, contents=GREETING):
    return {"model": model, "contents": contents}


def tools(model):
    asked = []

    def clima(cidade: str) -> str:
        """O tempo de uma cidade."""
        asked.append(cidade)
        return "sol"

    config = types.GenerateContentConfig(tools=[clima])
    # The library calls the function by itself, and sends its results.
    answer = client.models.generate_content(**ask(model, TASK), config=config)
    same(asked, CITIES)
    holds(answer.text, "A ferramenta clima devolveu")
    holds(answer.text, "sol")


def stream(model):
    chunks = list(client.models.generate_content_stream(**ask(model)))
    text = "".join(chunk.text or "" for chunk in chunks)
    holds(text, GREETING)
    same(client.models.generate_content(**ask(model)).text, text)
    same(chunks[-1].candidates[0].finish_reason, types.FinishReason.STOP)
    assert chunks[-1].usage_metadata.candidates_token_count > 0


def image(model):
    part = types.Part.from_bytes(data=base64.b64decode(png()), mime_type="image/png")
    answer = client.models.generate_content(**ask(model, [GREETING, part]))
    assert answer.usage_metadata.prompt_token_count > 700, "the image was not counted"
    assert client.models.count_tokens(**ask(model)).total_tokens > 0


def error(model):
    same(fails(lambda: client.models.generate_content(**ask("nada")), errors.ClientError).status, "NOT_FOUND")
    refused = fails(lambda: stranger.models.generate_content(**ask(model)), errors.ClientError)
    same([refused.code, refused.status], [401, "UNAUTHENTICATED"])
    fails(lambda: list(stranger.models.generate_content_stream(**ask(model))), errors.ClientError)
    assert f"models/{model}" in [each.name for each in client.models.list(config={"page_size": 10})]
    same(client.models.get(model=model).name, f"models/{model}")


def balance(model):
    refused = spend(lambda: poor.models.generate_content(**ask(model)), errors.ClientError, None)
    same([refused.code, refused.status], [402, "FAILED_PRECONDITION"])


run(balance, tools=tools, stream=stream, image=image, error=error)
