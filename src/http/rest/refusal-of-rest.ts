import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import type { RestRefusal } from './rest-refusal.ts'

/** The texts of refusals without details, or with details that are not for people. */
const TEXTS: Readonly<Record<string, string>> = {
  ip_blocked_by_allowlist: refusals.ipBlocked().message,
  key_paused: 'Esta chave de API está pausada. Retome-a no painel, em Chaves.',
  internal_error: refusals.internalError().message,
}

/** A refusal of a REST route as the model API says it. */
export function refusalOfRest({ status, code, details }: RestRefusal): Refusal {
  return { kind: 'refused', status, type: code, code, message: TEXTS[code] ?? details ?? code }
}
