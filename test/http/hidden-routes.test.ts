// deep: generated requests of every hidden route
/**
 * Generated requests to the routes that `/v1/openapi.json` leaves out: pages, forms, streams, endpoints for machines. The
 * contract fuzz is about the described ones, and `tenant-isolation.test.ts` about what strangers reach by either.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertHeaders } from '../harness/assert-answer.ts'
import { effort } from '../harness/effort.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import { startGateway } from '../harness/gateway.ts'
import { enterByLink } from '../harness/sign-in-browser.ts'
import { HIDDEN, sendHidden, withParameter } from './isolation-cases/hidden-routes.ts'

const gateway = await startGateway({ REST_RPM_PER_IP: '1000000' })
after(() => gateway.stop())
const { baseUrl } = gateway.node
const { browser, csrfToken } = await enterByLink(
  gateway.database.db,
  baseUrl,
  'paginas@exemplo.com.br',
)
const SIGNED_IN = { cookie: browser.cookie(), 'x-csrf-token': csrfToken }

const text = fc.string({ unit: anyCharacter, maxLength: 40 })
const value = fc.oneof(
  text,
  fc.constantFrom('', '%', '..', '%2e%2e%2f', '\u0000', 'a'.repeat(5_000), '[]', '{}', '-1'),
)
const fields = fc.dictionary(
  fc.oneof(fc.constantFrom('token', 'id', 'email', 'code', 'next', 'key', 'password'), text),
  value,
  { maxKeys: 4 },
)

test('whatever is sent to hidden routes, no answer is a 5xx, and each has its id', async (t) => {
  const request = fc.record({
    part: value,
    query: fields,
    body: fc.oneof(
      fields.map((one) => new URLSearchParams(one).toString()),
      fc.json(),
      text,
    ),
    type: fc.constantFrom(
      'application/x-www-form-urlencoded',
      'application/json',
      'text/plain',
      'application/json; charset=latin1',
      'multipart/form-data; boundary=x',
    ),
    accept: fc.constantFrom('*/*', 'text/html', 'application/json', 'text/event-stream'),
    isSignedIn: fc.boolean(),
  })
  for (const route of HIDDEN)
    await t.test(route.name, () =>
      fc.assert(
        fc.asyncProperty(request, async ({ part, query, body, type, accept, isSignedIn }) => {
          const path = withParameter(route.url, part)
          const answer = await sendHidden(baseUrl, {
            path: `${path}?${new URLSearchParams(query).toString()}`,
            method: route.method,
            headers: {
              accept,
              ...(route.method === 'GET' ? {} : { 'content-type': type }),
              ...(isSignedIn ? SIGNED_IN : {}),
            },
            body,
          })
          // A clone without a build says how to make one.
          const isUnbuilt = answer.status === 503 && answer.text.includes('npm run web:build')
          assert.ok(
            answer.status < 500 || isUnbuilt,
            `${answer.status} ${answer.text.slice(0, 300)}`,
          )
          assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
          // Pages have no limits to tell of.
          if (path.startsWith('/v1/')) assertHeaders(answer)
        }),
        { numRuns: effort({ ordinary: 12, full: 300 }) },
      ),
    )
  const complaints = gateway.node.log.filter((line) => line.includes('"level":"error"'))
  assert.deepEqual(complaints.slice(0, 5), [])
})
