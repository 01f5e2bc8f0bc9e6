import {
  chatCompletions,
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
    serving: ({ calls }) => ({ serveCall: calls.completeChat, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/responses',
    contract: responses,
    serving: ({ calls }) => ({ serveCall: calls.createResponse, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/messages',
    contract: messages,
    serving: ({ calls }) => ({ serveCall: calls.createMessage, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/messages/count_tokens',
    contract: messageTokens,
    serving: ({ calls }) => ({ serveCall: calls.countMessageTokens, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/embeddings',
    contract: embeddings,
    serving: ({ calls }) => ({ serveCall: calls.embed, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/images/generations',
    contract: imageGenerations,
    serving: ({ calls }) => ({ serveCall: calls.generateImages, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/audio/transcriptions',
    contract: transcriptions,
    // The form is read by the kind of the call, after the key is known.
    isBodyStreamed: true,
    serving({ calls, uploads, bodies }) {
      const forms = createUploads(uploads, bodies)
      return { serveCall: calls.transcribe, bodyOf: ({ raw }) => forms.formOf(raw) }
    },
  }),
]
