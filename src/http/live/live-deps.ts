import type { AuthenticateDeps } from '../rest/authenticate.ts'
import type { LiveStreams } from './live-streams.ts'

export interface LiveDeps extends AuthenticateDeps {
  readonly live: LiveStreams
}
