import { exactBrl } from '../../format/brl.ts'
import { duration } from '../../format/duration.ts'
import { wholeNumber } from '../../format/number.ts'
import type { AnswerTurn } from './conversation.ts'
import { t } from '../../language/t.ts'

/** The cost and duration of an answer in words, the cost as charged to the last digit; unknown facts are left out. */
export function answerFacts({
  charge,
  firstTokenMs,
  wholeMs,
  images,
}: AnswerTurn): readonly string[] {
  const facts: string[] = []
  if (charge?.costBrl !== undefined) facts.push(exactBrl(charge.costBrl))
  if (charge && charge.promptTokens + charge.completionTokens > 0) {
    const { promptTokens, completionTokens, reasoningTokens } = charge
    const thought =
      reasoningTokens > 0
        ? t(' ({reasoningTokens} de raciocínio)', { reasoningTokens: wholeNumber(reasoningTokens) })
        : ''
    facts.push(
      t('{promptTokens} → {completionTokens} tokens{thought}', {
        promptTokens: wholeNumber(promptTokens),
        completionTokens: wholeNumber(completionTokens),
        thought,
      }),
    )
  }
  if (firstTokenMs !== undefined)
    facts.push(t('1º token em {firstTokenMs}', { firstTokenMs: duration(firstTokenMs) }))
  // An image comes at once, without a first token.
  if ((firstTokenMs !== undefined || images) && wholeMs !== undefined)
    facts.push(t('{wholeMs} ao todo', { wholeMs: duration(wholeMs) }))
  return facts
}

/** The same facts by name, with a dash for those that are unknown. */
export function answerFigures(answer: AnswerTurn): readonly (readonly [string, string])[] {
  const { charge, firstTokenMs, wholeMs } = answer
  const tokens = charge && charge.promptTokens + charge.completionTokens > 0 ? charge : undefined
  return [
    [t('Custo'), charge?.costBrl === undefined ? '–' : exactBrl(charge.costBrl)],
    [t('Tempo'), wholeMs === undefined ? '–' : duration(wholeMs)],
    [t('1º token'), firstTokenMs === undefined ? '–' : duration(firstTokenMs)],
    [
      t('Tokens'),
      tokens
        ? `${wholeNumber(tokens.promptTokens)} → ${wholeNumber(tokens.completionTokens)}`
        : '–',
    ],
  ]
}

/** What each of the answers is best at, by its id; nothing before all of them are complete. */
export function praiseOf(answers: readonly AnswerTurn[]): ReadonlyMap<string, readonly string[]> {
  const praise = new Map<string, string[]>()
  const isComplete = answers.every(
    ({ state, charge }) => state === 'done' && charge?.costBrl !== undefined,
  )
  if (answers.length < 2 || !isComplete) return praise
  const add = (text: string, valueOf: (answer: AnswerTurn) => number): void => {
    const best = Math.min(...answers.map(valueOf))
    const winners = answers.filter((answer) => valueOf(answer) === best)
    const [winner] = winners
    if (!winner || winners.length > 1) return
    praise.set(winner.id, [...(praise.get(winner.id) ?? []), text])
  }
  add(t('mais barata'), ({ charge }) => charge?.costBrl ?? Infinity)
  add(t('mais rápida'), ({ wholeMs }) => wholeMs ?? Infinity)
  return praise
}
