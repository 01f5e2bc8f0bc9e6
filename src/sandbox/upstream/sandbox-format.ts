import type { Answer } from './compose-answer.ts'
import type { Usage, AnswerEvent } from './render-answer.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import type { ChatRequest } from './read-chat-request.ts'

/** What an answer in any format is made of. */
export interface Rendered<Request extends ChatRequest> {
  readonly request: Request
  readonly answer: Answer
  readonly usage: Usage | undefined
  readonly tokenizer: Tokenizer
}

/** A format in which chats are asked and answered. */
export interface SandboxFormat<Request extends ChatRequest = ChatRequest> {
  /** Throws `BadRequest`. */
  read(text: string): Request
  /** Whether this answer reports its usage. */
  reportsUsage(request: Request): boolean
  renderBody(rendered: Rendered<Request>): string
  renderEvents(rendered: Rendered<Request>): Iterable<AnswerEvent>
  /** What follows the last event of a whole stream. */
  readonly ending: string
}
