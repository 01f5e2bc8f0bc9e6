import { percent } from '../../format/number.ts'
import { t } from '../../language/t.ts'

/** `12% a mais`, `12% a menos`, `igual`; a period without spending has no percentage. */
export function changeText(now: number, before: number): string {
  if (now === before) return t('igual ao período anterior')
  if (before <= 0) return t('nada no período anterior')
  const change = ((now - before) / before) * 100
  const shown = { change: percent(Math.abs(change)) }
  return change > 0 ? t('{change} a mais', shown) : t('{change} a menos', shown)
}
