import { duration } from '../../format/duration.ts'
import { wholeNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import type { AnswerTurn } from './conversation.ts'

/** The cost and duration of an answer in words; unknown facts are left out. */
export function answerFacts({ charge, firstTokenMs, wholeMs }: AnswerTurn): readonly string[] {
  const facts: string[] = []
  if (charge?.costBrl !== undefined) facts.push(amount(charge.costBrl))
  if (charge) {
    const { promptTokens, completionTokens, reasoningTokens } = charge
    const thought = reasoningTokens > 0 ? ` (${wholeNumber(reasoningTokens)} de raciocínio)` : ''
    facts.push(`${wholeNumber(promptTokens)} → ${wholeNumber(completionTokens)} tokens${thought}`)
  }
  if (firstTokenMs !== undefined) facts.push(`1º token em ${duration(firstTokenMs)}`)
  if (firstTokenMs !== undefined && wholeMs !== undefined)
    facts.push(`${duration(wholeMs)} ao todo`)
  return facts
}
