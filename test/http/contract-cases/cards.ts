import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { APPROVED, cardBody, DECLINED, DECLINED_LATER } from '../../harness/cards.ts'
import { seedPayer } from '../../harness/payer.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'

export async function createCases({ database, node }: TestGateway): Promise<ContractCases> {
  const { db } = database
  const { secret } = await seedPayer(db)
  const nobody = await seedCustomer(db, { balanceBrl: '0' })
  const add = async (number: string): Promise<string> => {
    const body = cardBody(number)
    return (await ask(node.baseUrl, '/payment-methods', { secret, body })).json.id
  }
  const cards = [await add(APPROVED), await add(DECLINED_LATER)]
  const [card, declined] = cards
  const charge = { amount: 20, method: 'card', payment_method_id: card }
  const paid = await ask(node.baseUrl, '/topups', { secret, body: charge })
  const open = await ask(node.baseUrl, '/topups', { secret, body: { amount: 20 } })
  const receipts = (file: string) => [
    { path: `/topups/${paid.json.id}/${file}`, secret },
    { path: `/topups/${open.json.id}/${file}`, secret, status: 409 },
    { path: `/topups/${createId()}/${file}`, secret, status: 404 },
    { path: `/topups/${paid.json.id}/${file}`, isAnonymous: true, status: 401 },
  ]
  const automatic = { threshold_brl: 0, amount_brl: 20, payment_method_id: card }
  return {
    'POST /payment-methods': [
      { body: cardBody(APPROVED), secret, status: 201 },
      { body: cardBody(DECLINED), secret, status: 400 },
      { body: {}, secret, status: 400 },
      { body: cardBody(APPROVED), secret: nobody.secret, status: 400 },
      { body: cardBody(APPROVED), isAnonymous: true, status: 401 },
    ],
    'GET /payment-methods': [{ secret }, { isAnonymous: true, status: 401 }],
    'PUT /topups/automatic': [
      { body: automatic, secret },
      { body: { ...automatic, monthly_limit_brl: 500, is_enabled: false }, secret },
      { body: { ...automatic, amount_brl: 1 }, secret, status: 400 },
      { body: { ...automatic, payment_method_id: createId() }, secret, status: 404 },
      { body: automatic, secret: nobody.secret, status: 400 },
      { body: automatic, isAnonymous: true, status: 401 },
    ],
    'GET /topups/automatic': [
      { secret },
      { secret: nobody.secret, status: 404 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /topups/{id}/receipt': receipts('receipt'),
    'GET /topups/{id}/receipt.pdf': receipts('receipt.pdf'),
    'DELETE /topups/automatic': [
      { secret },
      { secret, status: 404 },
      { isAnonymous: true, status: 401 },
    ],
    'DELETE /payment-methods/{id}': [
      { path: `/payment-methods/${card}`, secret },
      { path: `/payment-methods/${card}`, secret, status: 404 },
      { path: `/payment-methods/${declined}`, isAnonymous: true, status: 401 },
    ],
  }
}
