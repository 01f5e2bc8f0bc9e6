import { randomBytes } from 'node:crypto'
import { brasiliaTime } from './brasilia-time.ts'
import type { WebhookQueue } from './deliver-webhooks.ts'
import type { SandboxState } from './open-state.ts'
import { eventFaultOf } from './sandbox-faults.ts'
import type { SandboxEvent, SandboxPayment } from './sandbox-records.ts'

export type Emit = (payment: SandboxPayment, name: string) => void

export interface EmitDeps {
  readonly state: SandboxState
  readonly queue: WebhookQueue
  readonly hasDuplicateEvents: boolean
  readonly render: (payment: SandboxPayment) => object
}

/** Queues events: normally once and in order, but with a fault twice, out of order or not at all. */
export function createEmit({ state, queue, hasDuplicateEvents, render }: EmitDeps): Emit {
  /** Events held back until a later one has overtaken them. */
  const held = new Map<string, SandboxEvent>()

  function createEvent(name: string, payment: SandboxPayment): SandboxEvent {
    const id = `evt_${randomBytes(16).toString('hex')}&${state.nextNumber()}`
    const dateCreated = brasiliaTime(new Date())
    const body = JSON.stringify({ id, event: name, dateCreated, payment: render(payment) })
    return { id, name, paymentId: payment.id, body, failures: 0 }
  }

  return (payment, name) => {
    const fault = eventFaultOf(payment.amountCents)
    if (fault === 'never') return
    const event = createEvent(name, payment)
    if (fault === 'out_of_order' && name === 'PAYMENT_CREATED') {
      held.set(payment.id, event)
      return
    }
    state.events.push(event)
    if (fault === 'twice' || hasDuplicateEvents) state.events.push({ ...event })
    const overtaken = held.get(payment.id)
    if (overtaken) state.events.push(overtaken)
    held.delete(payment.id)
    queue.wake()
  }
}
