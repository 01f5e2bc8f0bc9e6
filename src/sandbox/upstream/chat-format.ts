import { readChatRequest } from './read-chat-request.ts'
import { createIdentity, renderBody, renderEvents } from './render-answer.ts'
import type { SandboxFormat } from './sandbox-format.ts'

/** OpenAI's chat completions. */
export const chatFormat: SandboxFormat = {
  read: readChatRequest,
  reportsUsage: ({ isStream, includesUsage }) => !isStream || includesUsage,
  renderBody: ({ request, answer, usage }) =>
    renderBody(createIdentity(request.modelName), answer, usage, request.topLogprobs),
  renderEvents: ({ request, answer, usage }) =>
    renderEvents(createIdentity(request.modelName), answer, usage, request),
  ending: 'data: [DONE]\n\n',
}
