import type { ChatFormat } from '../../chat-format.ts'
import { readChatRequest } from '../../chat-request.ts'
import { readJsonBody } from '../../../read-json-body.ts'
import { isRefusal, refusalBody } from '../../../refusal.ts'
import { chunkOpening, publicAnswer, publicChunk, usageChunk } from './public-chat.ts'

/** The format that the specification asks for, ended by `data: [DONE]`. */
export const chatCompletionsFormat: ChatFormat = {
  readRequest(raw) {
    const body = readJsonBody(raw)
    return isRefusal(body) ? body : readChatRequest(body, raw.length)
  },
  createWriter({ id, modelId, request }) {
    const head = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), modelId }
    // Of streams only.
    let opening: string | undefined
    return {
      answer: (body, charged) => publicAnswer(head, body, charged),
      chunk: (body) => publicChunk((opening ??= chunkOpening(head)), body),
      end: (charged) => `${request.wantsUsage ? usageChunk(head, charged) : ''}data: [DONE]\n\n`,
      broken: (refused) => `data: ${refusalBody(refused)}\n\n`,
    }
  },
}
