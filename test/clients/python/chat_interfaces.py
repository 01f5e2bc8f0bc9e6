"""The requests that Open WebUI and LibreChat send, by their sources: neither is a library that could be called here."""

import json

import requests
from helper import BASE_URL, CITIES, GREETING, IMAGE, KEY, POOR_KEY, REPORT, TASK
from helper import fails, holds, run, same, spend

SCHEMA = {"type": "object", "properties": {"cidade": {"type": "string"}}, "required": ["cidade"]}
FUNCTION = {"name": "clima", "description": "O tempo de uma cidade.", "parameters": SCHEMA}


class Refused(Exception):
    """Both read the status, and show the message of the error."""

    def __init__(self, status_code, error):
        super().__init__(error["message"])
        self.status_code, self.error = status_code, error


def send(body, key=KEY, headers=()):
    """Returns the answer, or a stream's answer put together from its events."""
    answer = requests.post(
        f"{BASE_URL}/chat/completions",
        data=json.dumps(body),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json", **dict(headers)},
        stream=body["stream"],
        timeout=60,
    )
    answer.encoding = "utf-8"
    if not answer.ok:
        raise Refused(answer.status_code, answer.json()["error"])
    if not body["stream"]:
        return answer.json()["choices"][0]["message"], answer.json()["usage"]
    return read(answer.iter_lines(decode_unicode=True))


def read(lines):
    """A call’s name comes once and its arguments in pieces, by its index, as in the merging of both programs."""
    text, calls, usage, ended = "", {}, None, False
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            ended = True
            break
        event = json.loads(data)
        usage = event.get("usage") or usage
        for choice in event["choices"]:
            text += choice["delta"].get("content") or ""
            for delta in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(delta["index"], {"id": delta.get("id"), "name": "", "arguments": ""})
                call["name"] += delta["function"].get("name") or ""
                call["arguments"] += delta["function"].get("arguments") or ""
    assert ended, "the stream has no end"
    made = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in calls.values()
    ]
    return {"role": "assistant", "content": text, "tool_calls": made}, usage


def open_webui(model, messages, **more):
    """A conversation: streamed, with the usage, and with headers about its user where the operator wants that."""
    body = {"stream": True, "model": model, "messages": messages, "stream_options": {"include_usage": True}}
    return {**body, **more}


OF_OPEN_WEBUI = {
    "X-OpenWebUI-User-Name": "Maria%20Souza",
    "X-OpenWebUI-User-Id": "7f1c",
    "X-OpenWebUI-User-Email": "maria@exemplo.com.br",
    "X-OpenWebUI-User-Role": "user",
    "X-OpenWebUI-Chat-Id": "c0ffee",
}


def librechat(model, messages, **more):
    """An agent: instructions in a message of their own, contents as lists of parts, and the id of the user."""
    system = {"role": "system", "content": "Você é um assistente."}
    body = {"model": model, "temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
    return {
        **body,
        "stream": True,
        "stream_options": {"include_usage": True},
        "user": "65f0c0ffee65f0c0ffee65f0",
        "messages": [system, *messages],
        **more,
    }


def said(shape, text):
    content = text if shape is open_webui else [{"type": "text", "text": text}]
    return {"role": "user", "content": content}


SHAPES = [(open_webui, OF_OPEN_WEBUI), (librechat, {})]


def tools(model):
    for shape, headers in SHAPES:
        messages, asked = [said(shape, TASK)], []
        while True:
            body = shape(model, messages, tools=[{"type": "function", "function": FUNCTION}])
            message, _ = send(body, headers=headers)
            if not message["tool_calls"]:
                break
            messages.append(message)
            for call in message["tool_calls"]:
                asked.append(json.loads(call["function"]["arguments"])["cidade"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": "sol"})
        same(asked, CITIES)
        holds(message["content"], REPORT)


def stream(model):
    for shape, headers in SHAPES:
        message, usage = send(shape(model, [said(shape, GREETING)]), headers=headers)
        holds(message["content"], GREETING)
        assert usage["total_tokens"] > 0
    # The title of a conversation.
    title = {"model": model, "messages": [said(open_webui, GREETING)], "stream": False, "max_completion_tokens": 1000}
    holds(send(title)[0]["content"], GREETING)


def image(model):
    for shape, headers in SHAPES:
        detail = {} if shape is open_webui else {"detail": "auto"}
        parts = [{"type": "text", "text": GREETING}, {"type": "image_url", "image_url": {"url": IMAGE, **detail}}]
        _, usage = send(shape(model, [{"role": "user", "content": parts}]), headers=headers)
        assert usage["prompt_tokens"] > 700, "the image was not counted"


def error(model):
    for shape, headers in SHAPES:
        body = shape("nada", [said(shape, GREETING)])
        same(fails(lambda: send(body, headers=headers), Refused, 404).error["code"], "model_not_found")
        body = shape(model, [said(shape, GREETING)])
        fails(lambda: send(body, "sk-svc-none", headers), Refused, 401)
    # What both ask first: it tells a wrong key, and lists what the key may call.
    for key, status in [(KEY, 200), ("sk-svc-none", 401)]:
        answer = requests.get(f"{BASE_URL}/models", headers={"Authorization": f"Bearer {key}"}, timeout=60)
        same(answer.status_code, status)
        if status == 200:
            assert model in [each["id"] for each in answer.json()["data"]]


def balance(model):
    for shape, headers in SHAPES:
        body = shape(model, [said(shape, GREETING)])
        if shape is open_webui:
            spend(lambda: send(body, POOR_KEY, headers), Refused)
        same(fails(lambda: send(body, POOR_KEY, headers), Refused, 402).error["code"], "insufficient_balance")


run(balance, tools=tools, stream=stream, image=image, error=error)
