"""`smolagents`: an agent that calls tools, and its model of OpenAI’s format."""

import base64
import io

import openai
from helper import BASE_URL, GREETING, KEY, POOR_KEY, png
from helper import fails, holds, run, same, spend
from PIL import Image
from smolagents import ChatMessage, OpenAIServerModel, Tool, ToolCallingAgent
from smolagents.models import MessageRole

# The agent sends a tool's result as a text of the user, which the sandbox takes for no result: one call in each task. It
# ends by a tool of its own.
CALL = 'Faça:\nchame clima {"cidade": "Recife"}'
END = 'Faça:\nchame final_answer {"answer": "pronto"}'


class Clima(Tool):
    name = "clima"
    description = "O tempo de uma cidade."
    inputs = {"cidade": {"type": "string", "description": "A cidade."}}
    output_type = "string"

    def __init__(self):
        super().__init__()
        self.asked = []

    def forward(self, cidade: str) -> str:
        self.asked.append(cidade)
        return "sol"


def at(model, key=KEY):
    return OpenAIServerModel(model_id=model, api_base=BASE_URL, api_key=key)


def ask(model, content=GREETING):
    return model.generate([ChatMessage(role=MessageRole.USER, content=content)])


def tools(model):
    tool = Clima()
    agent = ToolCallingAgent(tools=[tool], model=at(model), verbosity_level=0)
    agent.run(CALL, max_steps=1)
    same(tool.asked, ["Recife"])
    same(agent.run(END, max_steps=1), "pronto")


def stream(model):
    deltas = list(at(model).generate_stream([ChatMessage(role=MessageRole.USER, content=GREETING)]))
    holds("".join(delta.content or "" for delta in deltas), GREETING)
    assert any(delta.token_usage for delta in deltas)


def image(model):
    dot = Image.open(io.BytesIO(base64.b64decode(png())))
    answer = ask(at(model), [{"type": "text", "text": GREETING}, {"type": "image", "image": dot}])
    assert answer.token_usage.input_tokens > 700, "the image was not counted"


def error(model):
    fails(lambda: ask(at("nada")), openai.NotFoundError)
    fails(lambda: ask(at(model, "sk-svc-none")), openai.AuthenticationError)


def balance(model):
    spend(lambda: ask(at(model, POOR_KEY)), openai.APIStatusError)


run(balance, tools=tools, stream=stream, image=image, error=error)
