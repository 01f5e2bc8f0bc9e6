import { randomText } from '../../platform/lib/ids.ts'
import { generateJson } from './generate-json.ts'
import { type Piece, type TokenizedText, type Tokenizer, sumTokens } from './open-tokenizer.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import type { ChatRequest, Tool } from './read-chat-request.ts'
import { lastResults, type ChatMessage } from './read-messages.ts'
import type { SandboxModel } from './sandbox-models.ts'
import {
  HARD_CHARACTERS,
  lastUserText,
  STORY,
  writeGreeting,
  writeJsonObject,
  writeReasoning,
  writeToolReport,
} from './write-text.ts'

export interface Answer {
  readonly choices: readonly Choice[]
  readonly promptTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

export interface Choice {
  readonly reasoning: TokenizedText | undefined
  /** Undefined if there are tool calls; the body then has null. */
  readonly content: TokenizedText | undefined
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly nameTokens: number
  readonly arguments: TokenizedText
  /** Of a custom tool, whose arguments are a text. */
  readonly isCustom: boolean
}

const TOKENS_PER_MESSAGE = 3
/** Tokens for the start of the answer. */
const TOKENS_PER_PROMPT = 3
/** OpenAI's count for a picture of 1024 x 1024 at high detail. */
const TOKENS_PER_ATTACHMENT = 765
const TEXT_ONLY = /\bdo not (call|use) (any )?tools\b|\bnão (chame|use) ferramentas\b/i
const LONG_ANSWER_TOKENS = 400
const BIG_ANSWER_BYTES = 2_000_000

/**
 * Composes an answer, which depends on the request alone, except for the ids: the same request gets the same text and
 * the same token count.
 */
export function composeAnswer(
  request: ChatRequest,
  model: SandboxModel,
  tokenizer: Tokenizer,
): Answer {
  const choices = Array.from({ length: request.choiceCount }, (_, index) =>
    composeChoice(request, model, tokenizer, index),
  )
  const reasoningTokens = choices.reduce((sum, choice) => sum + (choice.reasoning?.tokens ?? 0), 0)
  return {
    choices,
    promptTokens: countPrompt(request, tokenizer),
    completionTokens: choices.reduce((sum, choice) => sum + countChoice(choice), 0),
    reasoningTokens,
  }
}

function composeChoice(
  request: ChatRequest,
  model: SandboxModel,
  tokenizer: Tokenizer,
  index: number,
): Choice {
  const limit = request.outputTokensMax ?? Infinity
  const whole = model.hasReasoning ? tokenizer.split(writeReasoning(request.turns)) : undefined
  const reasoning = whole && limitTokens(whole, limit, tokenizer)
  const left = limit - (reasoning?.tokens ?? 0)
  const calls = chooseCalls(request)
  if (calls.length > 0)
    return { reasoning, content: undefined, ...callTools(calls, request.tools, tokenizer, left) }

  const text = stopAt(composeText(request, model, tokenizer, index), request.stops, tokenizer)
  const content = limitTokens(text, left, tokenizer)
  const isWhole = content === text && reasoning === whole
  return { reasoning, content, toolCalls: [], finishReason: isWhole ? 'stop' : 'length' }
}

function composeText(
  request: ChatRequest,
  model: SandboxModel,
  tokenizer: Tokenizer,
  index: number,
): TokenizedText {
  const { format, turns } = request
  if (format.kind === 'json_object') return tokenizer.split(writeJsonObject(turns))
  if (format.kind === 'json_schema') {
    return tokenizer.split(JSON.stringify(generateJson(format.schema, index)))
  }
  if (model.text === 'big') {
    return repeat(tokenizer.split(STORY), Math.ceil(BIG_ANSWER_BYTES / Buffer.byteLength(STORY)))
  }
  if (model.text === 'long') {
    return limitTokens(tokenizer.split(STORY.repeat(8)), LONG_ANSWER_TOKENS, tokenizer)
  }
  const said = lastResults(turns).length > 0 ? writeToolReport(turns) : writeGreeting(turns)
  const hard = model.delivery === 'split' ? HARD_CHARACTERS : ''
  const option = index === 0 ? '' : ` (Opção ${index + 1}.)`
  return tokenizer.split(said + hard + option)
}

/**
 * The next call of those that the user planned. Without a plan the first tool is called, and also the second one if the
 * user's text contains "paralelo" and the client allows parallel calls; after the results there is no call, and none if
 * the user wants none, as agents do when they have a conversation summarised.
 */
function chooseCalls(request: ChatRequest): PlannedCall[] {
  const { tools, turns } = request
  const asked = lastUserText(turns)
  if (tools.length === 0 || TEXT_ONLY.test(asked)) return []
  const planned = findPlannedCall(turns)
  if (planned !== undefined) {
    const isKnown = planned !== 'done' && tools.some(({ name }) => name === planned.name)
    return isKnown ? [planned] : []
  }
  if (lastResults(turns).length > 0) return []
  const [first, second = first] = tools as [Tool, Tool?]
  const isParallel = request.callsInParallel && /paralelo/i.test(asked)
  return (isParallel ? [first, second] : [first]).map(({ name, parameters, isCustom }, index) => {
    const generated = generateJson(parameters, index)
    // A function without parameters may have no schema; its arguments are still an object.
    const text = JSON.stringify(isObject(generated) ? generated : {})
    return { name, argumentsText: isCustom ? 'entrada' : text }
  })
}

function callTools(
  calls: readonly PlannedCall[],
  tools: readonly Tool[],
  tokenizer: Tokenizer,
  limit: number,
): Pick<Choice, 'toolCalls' | 'finishReason'> {
  let left = limit
  let isWhole = true
  const toolCalls = calls.flatMap(({ name, argumentsText }) => {
    const nameTokens = tokenizer.count(name)
    isWhole &&= nameTokens <= left
    if (!isWhole) return []
    const whole = tokenizer.split(argumentsText)
    const made = limitTokens(whole, left - nameTokens, tokenizer)
    isWhole = made === whole
    left -= nameTokens + made.tokens
    const isCustom = tools.some((tool) => tool.name === name && tool.isCustom === true)
    return [{ id: `call_${randomText(24)}`, name, nameTokens, arguments: made, isCustom }]
  })
  return { toolCalls, finishReason: isWhole ? 'tool_calls' : 'length' }
}

function stopAt(
  text: TokenizedText,
  stops: readonly string[],
  tokenizer: Tokenizer,
): TokenizedText {
  const ends = stops.map((stop) => text.text.indexOf(stop)).filter((end) => end !== -1)
  return ends.length === 0 ? text : tokenizer.split(text.text.slice(0, Math.min(...ends)))
}

/** Returns the same object if the text fits, by which callers recognize that it is whole. */
function limitTokens(text: TokenizedText, tokensMax: number, tokenizer: Tokenizer): TokenizedText {
  if (text.tokens <= tokensMax) return text
  const pieces: Piece[] = []
  let left = tokensMax
  for (const piece of text.pieces) {
    // A long piece (a whole paragraph of a repeated text) may be split.
    const parts = piece.tokens <= left ? [piece] : tokenizer.split(piece.text).pieces
    for (const part of parts) {
      if (part.tokens > left) return joinPieces(pieces)
      pieces.push(part)
      left -= part.tokens
    }
  }
  return joinPieces(pieces)
}

/** One piece per repetition: half a million pieces of one token each would be 100 MB in the stream. */
function repeat(text: TokenizedText, times: number): TokenizedText {
  const piece = { text: text.text, tokens: text.tokens }
  return {
    text: text.text.repeat(times),
    tokens: text.tokens * times,
    pieces: Array.from({ length: times }, () => piece),
  }
}

function joinPieces(pieces: readonly Piece[]): TokenizedText {
  return { text: pieces.map((piece) => piece.text).join(''), tokens: sumTokens(pieces), pieces }
}

function countChoice({ reasoning, content, toolCalls }: Choice): number {
  const called = toolCalls.reduce((sum, call) => sum + call.nameTokens + call.arguments.tokens, 0)
  return (reasoning?.tokens ?? 0) + (content?.tokens ?? 0) + called
}

/** The prompts of all rounds: the model reads everything again after each search. */
function countPrompt(request: ChatRequest, tokenizer: Tokenizer): number {
  const messages = request.messages.reduce((sum, one) => sum + countMessage(one, tokenizer), 0)
  let round = TOKENS_PER_PROMPT + messages + tokenizer.count(request.promptExtras)
  let sum = round
  for (const { content } of request.searches) {
    round += tokenizer.count(content)
    sum += round
  }
  return sum
}

function countMessage(message: ChatMessage, tokenizer: Tokenizer): number {
  const calls = message.toolCalls.reduce(
    (sum, call) => sum + tokenizer.count(call.name) + tokenizer.count(call.arguments),
    0,
  )
  return (
    TOKENS_PER_MESSAGE +
    tokenizer.count(message.text) +
    calls +
    message.attachmentCount * TOKENS_PER_ATTACHMENT
  )
}

interface PlannedCall {
  readonly name: string
  /** As the user wrote them: the JSON of an object. */
  readonly argumentsText: string
}

/** One call in each line: `chame Bash {"command": "ls"}`. */
const LINE = /^[ \t]*chame (\S{1,200}) (\{.*\})[ \t]*$/gm

/**
 * A user may write down the tool calls of an agent's task, to try an agent without a real model. The sandbox makes them
 * one after another, each after the result of the one before. Returns the next one, `done` after the last one, and
 * undefined if no message plans any.
 */
export function findPlannedCall(
  messages: readonly ChatMessage[],
): PlannedCall | 'done' | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, text } = messages[index] as ChatMessage
    const calls = role === 'user' ? listCalls(text) : []
    if (calls.length === 0) continue
    const results = messages.slice(index + 1).filter((message) => message.role === 'tool')
    return calls[results.length] ?? 'done'
  }
  return undefined
}

function listCalls(text: string): PlannedCall[] {
  return Array.from(text.matchAll(LINE), ([, name = '', argumentsText = '']) => ({
    name,
    argumentsText,
  })).filter(({ argumentsText }) => isJsonObject(argumentsText))
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
