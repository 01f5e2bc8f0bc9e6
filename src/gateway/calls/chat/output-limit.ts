/** The output limit of a plain chat with log probabilities, whose answer may exceed what the gateway reads. */
import type { Model } from '../../../money/catalog/model.ts'
import { TOKEN_BYTES_MAX } from '../../../money/catalog/quote.ts'
import { CHAT_ANSWER_BYTES_MAX } from '../../providers/contract.ts'
import type { ChatRequest } from './chat-request.ts'

/**
 * The bytes of one log probability in an answer: of the token itself, and of each alternative. OpenAI indents its
 * answers: a token of six bytes, with each byte on its own line, takes 297 bytes, and a token of two bytes 201.
 * Without indentation a token takes 60 to 150 bytes. Text without log probabilities takes about 4 bytes a token; 64 MB
 * of it are more than a model generates within the time limit.
 */
const BYTES_PER_LOGPROB = 300
/** A request without a limit gets a lower limit than the model's, but not below this. */
const DEFAULT_LIMIT_MIN = 4_096

type Asked = Pick<ChatRequest, 'body' | 'isStream' | 'choices' | 'outputTokensMax'>

/** Returns the output tokens of each choice whose answer can be read as a whole; Infinity without log probabilities. */
export function outputTokensReadable({ body, isStream, choices }: Asked): number {
  const perToken = logprobsPerToken(body)
  if (isStream || perToken === 0) return Infinity
  return Math.floor(CHAT_ANSWER_BYTES_MAX / (BYTES_PER_LOGPROB * perToken * choices))
}

/** Returns the most bytes of a plain answer. Some formats repeat parts of the request in it. */
export function plainBytesMax(request: ChatRequest, outputTokensMax: number): number {
  const perToken = TOKEN_BYTES_MAX + BYTES_PER_LOGPROB * logprobsPerToken(request.body)
  return request.bytes + outputTokensMax * request.choices * perToken
}

/** Returns in Portuguese why the answer could not be read as a whole; undefined if it can. */
export function findSizeFault(model: Model, request: Asked): string | undefined {
  const readable = outputTokensReadable(request)
  const asked = Math.min(request.outputTokensMax ?? DEFAULT_LIMIT_MIN, model.outputTokensMax)
  if (asked <= readable) return undefined
  const field = countOf(request.body.top_logprobs) > 0 ? 'top_logprobs' : 'logprobs'
  const advice =
    readable < 1
      ? `Reduza ${field}`
      : `Com estes valores de "${field}" e "n", max_tokens pode ser de até ${readable}. Reduza um deles`
  return `O campo "${field}" tornaria a resposta grande demais. ${advice}, ou use "stream": true.`
}

/** Some upstreams take a number in `logprobs`, and convert texts. */
function logprobsPerToken({ logprobs, top_logprobs: top }: ChatRequest['body']): number {
  const alternatives = Math.max(countOf(logprobs), countOf(top))
  return logprobs || alternatives > 0 ? 1 + alternatives : 0
}

function countOf(value: unknown): number {
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0
  return count > 0 ? count : 0
}
