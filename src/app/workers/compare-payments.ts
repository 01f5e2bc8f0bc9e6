import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import {
  checkPayments,
  type CheckedPayments,
  type CheckWindow,
} from '../../money/payments/records/check-payments.ts'
import type { CheckedSubject, Subject } from '../../money/payments/records/check-subject.ts'
import type { Processor } from '../../money/payments/processor.ts'
import { listUnresolvedSubjects, recordFindings } from '../../money/reconciliation/discrepancies.ts'
import { failRun, finishRun, startRun } from '../../money/reconciliation/runs.ts'

export interface ComparePaymentsDeps {
  readonly db: Database
  readonly processor: Processor
  readonly log: Log
}

/**
 * The days whose payments are compared: boletos are paid days after they are created, and refunds follow days after
 * that.
 */
export const COMPARED_DAYS = 35

/**
 * Compares our top-ups with the processor's records of the last weeks, and checks again every open discrepancy. Throws
 * if the processor cannot be read to the end: the run stays unfinished with the reason, and keeps the discrepancies it
 * found. Safe on several nodes at once.
 */
export async function comparePayments(
  deps: ComparePaymentsDeps,
  now: Date = new Date(),
): Promise<CheckedPayments> {
  const { db, processor, log } = deps
  const window = windowOf(now)
  const run = await startRun(db, { processor: processor.id, ...window })
  try {
    const subjects = (await listUnresolvedSubjects(db, processor.id)).flatMap(subjectOf)
    const counts = await checkPayments(deps, window, subjects, (checked) => record(deps, checked))
    await finishRun(db, run, counts)
    log.info('payments_compared', { ...window, ...counts })
    return counts
  } catch (error) {
    const failure = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    log.error('payments_comparison_unfinished', { ...window, failure })
    await failRun(db, run, failure)
    throw error
  }
}

async function record(
  { db, processor, log }: ComparePaymentsDeps,
  { subject, paymentId, findings, wasRepaired }: CheckedSubject,
): Promise<void> {
  if (wasRepaired) log.warn('top_up_repaired', { topUpId: subject.id, paymentId })
  const found = {
    subject:
      subject.kind === 'top_up' ? `top_up:${subject.id}` : `payment:${processor.id}:${subject.id}`,
    processor: processor.id,
    processorPaymentId: paymentId,
    topUpId: subject.kind === 'top_up' ? subject.id : null,
  }
  await recordFindings(db, found, findings, log)
}

/** Parses the subject of a stored discrepancy. */
function subjectOf(text: string): Subject[] {
  const [, topUp, payment] = /^(?:top_up:(.+)|payment:[^:]+:(.+))$/.exec(text) ?? []
  if (topUp !== undefined) return [{ kind: 'top_up', id: topUp }]
  return payment === undefined ? [] : [{ kind: 'payment', id: payment }]
}

function windowOf(now: Date): CheckWindow {
  const dayOf = (at: Date): string =>
    new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo' }).format(at)
  const first = new Date(now.getTime() - (COMPARED_DAYS - 1) * 86_400_000)
  return { fromDay: dayOf(first), toDay: dayOf(now) }
}
