import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ChatCall } from '../../contract.ts'
import { callHeaders } from '../ai-sdk-options.ts'
import type { NativeMessages } from './write-native-messages.ts'

/**
 * Returns the call with which the package writes the address, the credentials and the limit, and reads the answer. Its
 * body is replaced by that of `native`.
 */
export function nativeCallOptions(
  { callId, outputTokensMax }: Pick<ChatCall, 'callId' | 'outputTokensMax'>,
  { flags }: NativeMessages,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  return {
    prompt: [{ role: 'user', content: [{ type: 'text', text: '-' }] }],
    maxOutputTokens: outputTokensMax,
    headers: {
      ...callHeaders(callId),
      ...(flags === undefined ? {} : { 'anthropic-beta': flags }),
    },
    includeRawChunks: true,
    abortSignal: signal,
  }
}
