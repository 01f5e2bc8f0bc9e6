import {
  chatCompletions,
  completions,
  messages,
  messageTokens,
  responses,
  embeddings,
  imageGenerations,
  transcriptions,
} from './model-call-schemas.ts'
import { bytesOf, modelCallRoute } from './model-call-route.ts'
import { createUploads } from './upload-form.ts'

/** The model calls of the specification, at the paths that client libraries use. */
export const modelCallRoutes = [
  modelCallRoute({
    url: '/v1/chat/completions',
    contract: chatCompletions,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.completeChat, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/completions',
    contract: completions,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.completeText, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/responses',
    contract: responses,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.createResponse, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/messages',
    contract: messages,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.createMessage, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/messages/count_tokens',
    contract: messageTokens,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.countMessageTokens, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/embeddings',
    contract: embeddings,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.embed, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/images/generations',
    contract: imageGenerations,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.generateImages, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/audio/transcriptions',
    contract: transcriptions,
    // The form is read by the kind of the call, after the key is known.
    isBodyStreamed: true,
    serving({ modelCalls, uploads, bodies }) {
      const forms = createUploads(uploads, bodies)
      return { serveCall: modelCalls.transcribe, bodyOf: ({ raw }) => forms.formOf(raw) }
    },
  }),
]
