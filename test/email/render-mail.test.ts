/** Every mail in both its forms: in Portuguese, with every value escaped, for any values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastCheck from '../harness/fast-check.ts'
import { formatBrl, formatTime } from '../../src/deliveries/email/formats.ts'
import { isMailAddress, readMailAddress } from '../../src/deliveries/email/mail-address.ts'
import type { MailData } from '../../src/deliveries/email/mail-content.ts'
import { SANDBOX_SENDER, type MailSender } from '../../src/deliveries/email/mail-sender.ts'
import { renderMail, TEMPLATE_NAMES } from '../../src/deliveries/email/render-mail.ts'
import { readSmtpUrl } from '../../src/deliveries/email/smtp-url.ts'

const SENDER: MailSender = {
  from: { name: 'Catraca', address: 'contas@catraca.example' },
  company: {
    name: 'Catraca & Filhos <Ltda.>',
    cnpj: '12345678000195',
    address: 'Rua das "Flores", 1, Recife, PE',
    contactEmail: 'ajuda@catraca.example',
  },
  publicUrl: 'https://api.catraca.example',
  isSandbox: false,
}
const READER = { name: 'Zoë d’Ávila', timezone: 'America/Manaus' }

const SOUND: MailData = {
  id: '1f81eb52-5198-4599-803e-771906343485',
  amount_brl: '1234.5',
  balance_brl: '0.000000001',
  threshold_brl: '10',
  spent_brl: '99.999',
  reward_brl: 5,
  method: 'pix',
  pix_payload: '00020126580014br.gov.bcb.pix',
  at: '2026-01-01T02:30:00.000Z',
  paid_at: '2026-01-01T02:30:00.000Z',
  expires_at: '2026-12-31T23:59:59.999Z',
  name: 'produção',
  last_four: 'a1B2',
  team_name: 'Dados',
  invited_by: 'Ana',
  role: 'admin',
  act: 'second_factor.enabled',
  ip: '203.0.113.7',
  token: 'tOkEn123',
  url: 'https://example.com/gancho',
  reason: 'fora do prazo',
  runway_days: 1,
  model_id: 'gpt-4o',
  model_name: 'GPT-4o',
  markup_multiplier_before: '1.25',
  markup_multiplier: '1.5',
  change_percent: '20',
  starts_at: '2026-12-08T03:00:00.000Z',
  from: '2026-01-05',
  to: '2026-01-11',
  requests: 1234567,
  top_models: [{ id: 'gpt', spent_brl: '2', requests: 3 }],
  others: [{ name: 'teste', last_four: 'Zz99' }],
  others_count: 1,
}

const HOSTILE = `<script>alert("1")</script>' & <img src=x onerror='y'>\r\nBcc: evil@example.com\u2028\u202etxt`

/** Data in which every value is this text. */
function filledWith(text: string): MailData {
  const filled = Object.fromEntries(Object.keys(SOUND).map((name) => [name, text]))
  return {
    ...filled,
    top_models: [{ id: text, spent_brl: text, requests: text }],
    others: [{ name: text, last_four: text }],
    others_count: 1,
  }
}

const TAGS = /^(!doctype|html|head|meta|title|body|main|h1|p|br|dl|dt|dd|strong|pre|footer)$/

function asLink(tag: string, attributes: string, what: string): string {
  assert.equal(tag, 'a', what)
  assert.match(attributes, /^( href="https?:\/\/[^"]+")?$/, what)
  return ''
}

/** All markup is ours: known tags, only with the attributes that we write, and no unescaped characters. */
function assertSafe(html: string, what: string): void {
  const rest = html.replaceAll(
    /<\/?([a-z0-9!]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g,
    (_, tag, attributes) => {
      // A mail that asks for an action has a link, which leads to the web.
      if (/^ href="https?:\/\/[^"]+"$/.test(attributes) || tag === 'a')
        return asLink(tag, attributes, what)
      assert.match(tag, TAGS, what)
      assert.doesNotMatch(attributes, /\bon|href|src/, what)
      return ''
    },
  )
  assert.doesNotMatch(rest, /[<>"']/, what)
  assert.doesNotMatch(rest.replaceAll(/&(amp|lt|gt|quot|#39);/g, ''), /&/, what)
}

const PORTUGUESE = /\b(sua|seu|suas|foi|não|para|uma|você|conta|recebemos|na|está)\b/i

for (const template of TEMPLATE_NAMES) {
  test(`${template}: both forms say the same in Portuguese, and name the sender`, () => {
    const { subject, text, html } = renderMail(template, SOUND, READER, SENDER)
    assert.match(text, PORTUGUESE)
    assert.doesNotMatch(`${subject} ${text}`, /undefined|null|NaN|\[object/)
    assert.ok(subject.length > 5 && !/[\r\n]/.test(subject))
    assert.match(html, /^<!doctype html><html lang="pt-BR">/)
    assertSafe(html, template)
    for (const form of [text, html]) {
      assert.ok(form.includes('12.345.678/0001-95') && form.includes('ajuda@catraca.example'))
      assert.ok(form.includes('Recife') && !form.includes('sandbox'))
    }
    const plain = html
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')
    const [said = ''] = text.split('\n\n-- \n')
    for (const line of said
      .split('\n')
      .flatMap((whole) => whole.split(/^([^:]+): /).filter(Boolean)))
      assert.ok(plain.includes(line.replace(/:$/, '')), `the HTML says: ${line}`)
    assert.match(renderMail(template, SOUND, READER, SANDBOX_SENDER).text, /fictícios/)
  })

  test(`${template}: in English it has the same facts and links, and no word of Portuguese`, () => {
    for (const data of [SOUND, { ...SOUND, others_count: undefined, reason: 'operator' }, {}]) {
      const [portuguese, english] = (['pt-BR', 'en-US'] as const).map((language) => {
        const sender = { ...SENDER, isSandbox: true }
        return renderMail(template, data, { ...READER, language }, sender)
      })
      assert.ok(portuguese && english)
      assert.match(english.html, /^<!doctype html><html lang="en-US">/)
      const own = /d’Ávila|produção|fora do prazo|Filhos|Recife/g
      const said = `${english.subject} ${english.text}`.replaceAll(own, '')
      assert.doesNotMatch(said, /[ãõçáéíóúâêô]|\b(sua|seu|para|não|uma|você|conta|foi)\b/i)
      const shapeOf = ({ html }: { html: string }): string =>
        (html.match(/<(dt|a|p|pre)\b|href="[^"]*"/g) ?? []).join(' ')
      assert.equal(shapeOf(english), shapeOf(portuguese))
    }
  })

  test(`${template}: hostile values stay text on one line, and never reach the end of the subject`, () => {
    for (const value of [HOSTILE, HOSTILE.repeat(200)]) {
      const reader = { name: value, timezone: 'No/Where' }
      const { subject, text, html } = renderMail(template, filledWith(value), reader, SENDER)
      assertSafe(html, template)
      assert.doesNotMatch(subject, /[\r\n\u2028\u202e]/)
      assert.ok(subject.length <= 300)
      assert.doesNotMatch(text, /^Bcc:/m)
      assert.ok(text.length < 20_000)
    }
  })

  test(`${template}: missing values and values of a wrong type are left out`, () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck
          .dictionary(fastCheck.constantFrom(...Object.keys(SOUND)), fastCheck.anything())
          // A generated text may be one of the words that the mail must not make up.
          .filter((data) => !/undefined|NaN/.test(JSON.stringify(data))),
        (data) => {
          const { subject, text, html } = renderMail(template, data, READER, SENDER)
          assertSafe(html, template)
          assert.doesNotMatch(`${subject}${text}`, /undefined|NaN/)
        },
      ),
      { numRuns: 50, examples: [[{}]] },
    )
  })
}

test('amounts have a no-break space and centavos, and all their digits below one centavo', () => {
  const nbsp = '\u00a0'
  for (const [decimal, shown] of [
    ['50', `R$${nbsp}50,00`],
    ['1234567.895', `R$${nbsp}1.234.567,90`],
    ['9007199254740993.01', `R$${nbsp}9.007.199.254.740.993,01`],
    ['0', `R$${nbsp}0,00`],
    ['0.004567891', `R$${nbsp}0,004567891`],
    ['0.010000001', `R$${nbsp}0,01`],
    ['-12.5', `-R$${nbsp}12,50`],
    ['', undefined],
    ['1e5', undefined],
    ['1,5', undefined],
    ['NaN', undefined],
  ] as const)
    assert.equal(formatBrl(decimal), shown, decimal)
})

test('amounts and times of an English mail are those of the dashboard in English', () => {
  const reader = { ...READER, language: 'en-US' } as const
  const { subject, text } = renderMail('recarga_confirmada', SOUND, reader, SENDER)
  assert.equal(subject, 'Top-up of R$\u00a01,234.50 confirmed')
  assert.match(text, /Date: Dec 31, 2025, 10:30 PM\n/)
  const digest = renderMail('resumo_semanal', SOUND, reader, SENDER)
  assert.match(digest.text, /Period: Jan 5, 2026 to Jan 11, 2026\n/)
  assert.match(digest.text, /Calls: 1,234,567\n/)
  const rise = renderMail('mudanca_de_preco', SOUND, reader, SENDER)
  assert.match(rise.text, /New multiplier: 1\.5\n/)
})

test("a customer's own words are never translated", () => {
  const data = { ...SOUND, name: 'Saldo', reason: 'Motivo' }
  const reader = { name: 'Recarga', timezone: 'UTC', language: 'en-US' } as const
  const { text } = renderMail('conta_suspensa', data, reader, SENDER)
  assert.match(text, /^Hello Recarga,\n/)
  assert.match(text, /Reason: Motivo\n/)
  assert.match(renderMail('chave_criada', { name: 'Saldo' }, reader, SENDER).text, /Key: Saldo\n/)
})

test("times are in the reader's zone, and in Brasília's if it is unknown", () => {
  const at = new Date('2026-01-01T02:30:00Z')
  assert.equal(formatTime(at, 'America/Manaus'), '31/12/2025 22:30')
  assert.equal(formatTime(at, 'Asia/Tokyo'), '01/01/2026 11:30')
  assert.equal(formatTime(at, 'No/Where'), '31/12/2025 23:30')
  assert.equal(
    formatTime(new Date('2026-01-01T03:05:00Z'), 'America/Sao_Paulo'),
    '01/01/2026 00:05',
  )
})

test("a receipt has the amount, the time in the reader's zone, and its id", () => {
  const { text } = renderMail('recarga_confirmada', SOUND, READER, SENDER)
  assert.match(text, /Valor pago: R\$\u00a01\.234,50\n/)
  assert.match(text, /Data: 31\/12\/2025 22:30\n/)
  assert.match(text, /Forma de pagamento: Pix\n/)
  assert.match(text, /Olá, Zoë d’Ávila,/)
})

test('welcome, receipt and a rise of the price lead to their pages, where the service has an address', () => {
  const data = { ...SOUND, input_brl_before: '9.75', input_brl: '0.0125' }
  for (const [template, path] of [
    ['boas_vindas', '/'],
    ['recarga_confirmada', '/recargas'],
    ['mudanca_de_preco', '/modelos/gpt-4o'],
  ] as const) {
    const { text, html } = renderMail(template, data, READER, SENDER)
    assert.ok(text.includes(`https://api.catraca.example${path}\n`), text)
    assert.ok(html.includes(`href="https://api.catraca.example${path}"`), template)
    const nowhere = renderMail(template, data, READER, { ...SENDER, publicUrl: undefined })
    assert.doesNotMatch(nowhere.text, /https:\/\/api/)
  }
})

test('models that end are named in one mail, each with its day and its replacement', () => {
  const models = [
    {
      model_id: 'gpt-4o',
      model_name: 'GPT-4o',
      ends_on: '2027-01-14',
      replacement_name: 'GPT-6 Luna',
    },
    { model_id: 'o3', model_name: 'o3', ends_on: '2026-12-11', replacement_name: null },
  ]
  const { subject, text } = renderMail('fim_de_modelo', { models }, READER, SENDER)
  assert.equal(subject, 'Modelos que você usa vão sair do ar')
  assert.match(text, /GPT-4o\n.*gpt-4o\n.*14\/01\/2027\n.*Substituto: GPT-6 Luna\n/)
  assert.match(text, /Modelo: o3\n.*o3\n.*11\/12\/2026\n/)
  const english = { ...READER, language: 'en-US' } as const
  const single = renderMail('fim_de_modelo', { models: models.slice(1) }, english, SENDER)
  assert.equal(single.subject, 'o3 is going offline')
})

test('a rise of the price says the prices in reais, before and after', () => {
  const data = { ...SOUND, input_brl_before: '9.75', input_brl: '11.7' }
  const { text } = renderMail('mudanca_de_preco', data, READER, SENDER)
  assert.match(
    text,
    /Entrada, por milhão de tokens: de R\$\u00a09,75 para R\$\u00a011,70, no câmbio de hoje\n/,
  )
  assert.doesNotMatch(text, /Saída/)
})

test('a Pix code is rendered without changes', () => {
  const code = `00020126${'x'.repeat(500)}-=+/?&%<>6304ABCD`
  const { text } = renderMail('recarga_pendente', { ...SOUND, pix_payload: code }, READER, SENDER)
  assert.ok(text.split('\n').includes(code))
  const without = renderMail('recarga_pendente', { id: SOUND['id'] }, READER, SENDER)
  assert.match(without.text, /O código para pagar está em GET \/v1\/topups\/1f81eb52-/)
})

test("the names in an invitation cannot become links, and its reader is not addressed by another person's name", () => {
  const data = {
    ...SOUND,
    team_name: 'ganhe em https://evil.example/x',
    invited_by: 'www.evil.example',
  }
  const { subject, text, html } = renderMail('convite_equipe', data, READER, SENDER)
  for (const form of [subject, text, html]) {
    assert.doesNotMatch(form, /evil[.\u200c]*example|https:[/\u200c]*evil|www/)
    assert.ok(!form.includes('Zoë'))
  }
  assert.ok(text.includes('tOkEn123'))
})

test('only optional mails explain how to unsubscribe', () => {
  for (const template of TEMPLATE_NAMES) {
    const { text, html, listUnsubscribe } = renderMail(template, SOUND, READER, SENDER)
    const isOptional = ['resumo_semanal', 'incidentes'].includes(template)
    assert.equal(listUnsubscribe !== undefined, isOptional, template)
    assert.equal(text.includes('PUT https://api.catraca.example/v1/me/preferences'), isOptional)
    assert.equal(html.includes('/v1/me/preferences'), isOptional)
  }
})

test('an unknown template is refused', () => {
  for (const name of ['nada', 'constructor', '__proto__'])
    assert.throws(() => renderMail(name, {}, READER, SENDER), /no template/)
})

test('a valid address is exactly one address, and nothing else is accepted', () => {
  for (const sound of ['a@b.co', 'josé@exemplo.com.br', "o'hara+x@sub.example.com"])
    assert.ok(isMailAddress(sound), sound)
  for (const faulty of [
    '',
    'a',
    'a@',
    '@b',
    'a@b,c@d',
    'a@b c@d',
    'a@b\r\nBcc: c@d',
    '<a@b>',
    'a@b;c@d',
    'a@b@c',
    '"a b"@c',
    `a@${'b'.repeat(300)}`,
    'a\0@b',
    'a\u202e@b',
  ])
    assert.ok(!isMailAddress(faulty), faulty)
  assert.deepEqual(readMailAddress('Catraca Ltda. <contas@b.co>'), {
    name: 'Catraca Ltda.',
    address: 'contas@b.co',
  })
  assert.deepEqual(readMailAddress('contas@b.co'), { name: '', address: 'contas@b.co' })
  for (const faulty of ['Catraca', 'a <b> <c@d>', 'x\r\nBcc: y <a@b>', 'a@b, c@d'])
    assert.equal(readMailAddress(faulty), undefined, faulty)
})

test('the URL of a mail server says whether its connection is encrypted', () => {
  const plain = { user: undefined, password: undefined }
  assert.deepEqual(readSmtpUrl('smtps://mail.example'), {
    host: 'mail.example',
    port: 465,
    ...plain,
    tls: 'direct',
  })
  assert.deepEqual(readSmtpUrl('smtp://u%40x:p%2Fw@mail.example'), {
    host: 'mail.example',
    port: 587,
    user: 'u@x',
    password: 'p/w',
    tls: 'required',
  })
  assert.deepEqual(readSmtpUrl('smtp://mail.internal:1025?tls=off'), {
    host: 'mail.internal',
    port: 1025,
    ...plain,
    tls: 'off',
  })
  assert.equal(readSmtpUrl('smtp://127.0.0.1:2525')?.tls, 'off')
  for (const faulty of [
    '',
    'mail.example',
    'http://mail.example',
    'smtp://',
    'smtps://h?tls=off',
    'smtp://h?tls=no',
    'smtp://h/path',
    'smtp://%zz@h',
  ])
    assert.equal(readSmtpUrl(faulty), undefined, faulty)
})
