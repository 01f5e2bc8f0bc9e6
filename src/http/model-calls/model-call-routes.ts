import type { FastifyInstance } from 'fastify'
import {
  chatCompletions,
  embeddings,
  imageGenerations,
  transcriptions,
} from './model-call-schemas.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addModelCall, bytesOf } from './add-model-call.ts'
import { createUploads } from './upload-form.ts'

/** Whose bodies may take their time. */
export const UPLOAD_PATH = '/v1/audio/transcriptions'

/** The model calls of the specification, at the paths that client libraries know. */
export function addModelCalls(server: FastifyInstance, deps: HttpDeps): void {
  const { completeChat, embed, generateImages, transcribe } = deps.calls
  addModelCall(server, deps, '/v1/chat/completions', chatCompletions, completeChat, bytesOf)
  addModelCall(server, deps, '/v1/embeddings', embeddings, embed, bytesOf)
  addModelCall(server, deps, '/v1/images/generations', imageGenerations, generateImages, bytesOf)

  const uploads = createUploads(deps.uploads)
  server.register(async (scope) => {
    // A form is not read into memory: whoever serves the call reads it, when it knows who sends it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    addModelCall(scope, deps, UPLOAD_PATH, transcriptions, transcribe, ({ raw }) =>
      uploads.formOf(raw),
    )
  })
}
