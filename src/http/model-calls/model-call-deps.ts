import type { KeyCache } from '../../customers/key-cache.ts'
import type { CheckCaller } from '../../gateway/calls/check-caller.ts'
import type { LimitsView } from '../../gateway/calls/limits.ts'
import type { RefusalDeps } from '../../gateway/calls/refuse-call.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import type { IncomingForm } from '../../gateway/calls/transcriptions/transcription-request.ts'
import type { Pace } from '../../platform/lib/pace.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { ByteBudget } from '../../platform/lib/byte-budget.ts'
import type { KeepAlives } from './keep-alives.ts'
import type { UploadLimits } from './upload-form.ts'

/** The kinds of model calls. */
export interface ModelCalls {
  readonly completeChat: ServeCall
  readonly createResponse: ServeCall
  readonly createMessage: ServeCall
  readonly countMessageTokens: ServeCall
  readonly embed: ServeCall
  readonly generateImages: ServeCall
  readonly transcribe: ServeCall<IncomingForm>
}

export interface ModelCallDeps extends RefusalDeps {
  readonly keys: KeyCache
  readonly log: Log
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  readonly calls: ModelCalls
  readonly checkCaller: CheckCaller
  readonly bodies: ByteBudget
  readonly pace: Pace
  readonly keepAlives: KeepAlives
  readonly limits: LimitsView
  readonly signIn: SignIn
  readonly uploads: UploadLimits
  readonly ipRequestsPerMinute: number
}
