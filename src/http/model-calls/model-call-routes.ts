import {
  chatCompletions,
  completions,
  messages,
  messageTokens,
  responseCompaction,
  responses,
  responseTokens,
  embeddings,
  rerank,
  moderations,
  imageEdits,
  imageGenerations,
  speech,
  transcriptions,
  translations,
  videos,
} from './model-call-schemas.ts'
import { GEMINI_LIST_PATH } from '../rest/error-formats.ts'
import { bytesOf, modelCallRoute, type ModelCalls } from './model-call-route.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import { responseSocketRoute } from './response-socket-route.ts'

/** The calls of Google's format, at the paths that `clientPath` makes of those with a model. */
const geminiRoute = (url: string, serveOf: (calls: ModelCalls) => ServeCall) =>
  modelCallRoute({
    url,
    serving: ({ modelCalls }) => ({ serveCall: serveOf(modelCalls), bodyOf: bytesOf }),
  })

/** The model calls of the specification, at the paths that client libraries use. */
export const modelCallRoutes = [
  responseSocketRoute,
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
    url: '/v1/responses/compact',
    contract: responseCompaction,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.compactResponse, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/responses/input_tokens',
    contract: responseTokens,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.countResponseTokens, bodyOf: bytesOf }),
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
  geminiRoute('/v1beta/generateContent', ({ generateContent }) => generateContent),
  geminiRoute('/v1beta/streamGenerateContent', ({ streamContent }) => streamContent),
  geminiRoute(GEMINI_LIST_PATH, ({ streamContentList }) => streamContentList),
  geminiRoute('/v1beta/countTokens', ({ countContentTokens }) => countContentTokens),
  geminiRoute('/v1beta/embedContent', ({ embedContent }) => embedContent),
  geminiRoute('/v1beta/batchEmbedContents', ({ embedContents }) => embedContents),
  modelCallRoute({
    url: '/v1/embeddings',
    contract: embeddings,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.embed, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/rerank',
    contract: rerank,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.rerank, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/moderations',
    contract: moderations,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.moderate, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/images/generations',
    contract: imageGenerations,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.generateImages, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/images/edits',
    contract: imageEdits,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.editImages, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/audio/speech',
    contract: speech,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.speak, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/videos',
    contract: videos,
    serving: ({ modelCalls }) => ({ serveCall: modelCalls.createVideo, bodyOf: bytesOf }),
  }),
  modelCallRoute({
    url: '/v1/audio/transcriptions',
    contract: transcriptions,
    // The form is read by the kind of the call, after the key is known.
    isBodyStreamed: true,
    serving: ({ modelCalls, uploads }) => ({
      serveCall: modelCalls.transcribe,
      bodyOf: ({ raw }) => uploads.formOf(raw),
    }),
  }),
  modelCallRoute({
    url: '/v1/audio/translations',
    contract: translations,
    isBodyStreamed: true,
    serving: ({ modelCalls, uploads }) => ({
      serveCall: modelCalls.translate,
      bodyOf: ({ raw }) => uploads.formOf(raw),
    }),
  }),
]
