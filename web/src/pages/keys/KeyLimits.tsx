import { AmountInput } from '../../components/AmountInput.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { CONTROL_CLASS } from '../../components/control-class.ts'
import { Disclosure } from '../../components/Disclosure.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Select } from '../../components/Select.tsx'
import { BudgetField } from './BudgetField.tsx'
import { CAP_FIELDS, capFieldText, expiryText } from './key-fields.ts'
import type { ApiKey } from './key-queries.ts'
import { BUDGET_PERIOD, CAP_WORDS } from './key-words.ts'
import { t } from '../../language/t.ts'

const REQUESTS_PER_MINUTE = 120

type NumberField = 'calls_at_once' | 'requests_per_minute' | 'tokens_per_minute' | 'cache_seconds'

/** With the hint of each, and what the form shows where the key has no value. */
function numberFields(): readonly (readonly [
  NumberField,
  string,
  string | undefined,
  number | '',
])[] {
  return [
    ['calls_at_once', t('Chamadas ao mesmo tempo'), t('Vazio: o limite da conta.'), ''],
    ['requests_per_minute', t('Chamadas por minuto'), undefined, REQUESTS_PER_MINUTE],
    ['tokens_per_minute', t('Tokens por minuto'), t('Vazio: sem limite.'), ''],
    [
      'cache_seconds',
      t('Reaproveitar respostas iguais por'),
      t('Em segundos, até uma semana. Vazio: só quando a chamada pede.'),
      '',
    ],
  ]
}

interface KeyLimitsProps {
  readonly apiKey: ApiKey | undefined
  readonly errorOf: (field: string) => string | undefined
}

export function KeyLimits({ apiKey: key, errorOf }: KeyLimitsProps) {
  return (
    <>
      <div className="grid items-start gap-3 sm:grid-cols-[minmax(0,1fr)_9rem]">
        <BudgetField apiKey={key} error={errorOf('budget')} />
        <Field label={t('Período')}>
          {(control) => (
            <Select {...control} name="period" defaultValue={key?.budget?.period ?? 'month'}>
              {Object.entries(BUDGET_PERIOD()).map(([period, text]) => (
                <option key={period} value={period}>
                  {text}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Disclosure
        isOpen={hasMore(key)}
        summary={t(
          'Mais limites: gasto por minuto, dia e tarefa, chamadas, tokens, endereços, validade',
        )}
      >
        <div className="grid gap-4 pt-2 sm:grid-cols-2">
          {CAP_FIELDS.map((field) => (
            <Field
              key={field}
              label={CAP_WORDS()[field].label}
              hint={CAP_WORDS()[field].hint}
              error={errorOf(field)}
            >
              {(control) => (
                <AmountInput
                  {...control}
                  currency="R$"
                  name={field}
                  defaultValue={capFieldText(key?.[field])}
                />
              )}
            </Field>
          ))}
          {numberFields().map(([field, label, hint, unset]) => (
            <Field key={field} label={label} hint={hint} error={errorOf(field)}>
              {(control) => (
                <Input
                  {...control}
                  name={field}
                  inputMode="numeric"
                  autoComplete="off"
                  defaultValue={key?.[field] ?? unset}
                />
              )}
            </Field>
          ))}
          <div className="sm:col-span-2">
            <Checkbox
              name="auto_cache"
              defaultChecked={key?.auto_cache ?? false}
              label={t('Marcar conversas para o cache do provedor')}
              hint={t(
                'Para agentes em modelos da Anthropic: a primeira escrita custa mais, e as leituras, muito menos.',
              )}
            />
          </div>
          <Field
            label={t('Endereços IP permitidos')}
            className="sm:col-span-2"
            hint={t('Um por linha, IP ou bloco CIDR. Vazio: de qualquer lugar.')}
            error={errorOf('ip_allowlist')}
          >
            {(control) => (
              <textarea
                {...control}
                name="ip_allowlist"
                rows={3}
                spellCheck={false}
                defaultValue={key?.ip_allowlist?.join('\n')}
                className={`${CONTROL_CLASS} py-2 font-mono`}
              />
            )}
          </Field>
          <Field label={t('Vale até')} hint={t('Vazio: não vence.')} error={errorOf('expires_at')}>
            {(control) => (
              <Input {...control} type="date" name="expires_at" defaultValue={expiryText(key)} />
            )}
          </Field>
        </div>
      </Disclosure>
    </>
  )
}

/** Opens the group when the edited key has a limit in it. */
function hasMore(key: ApiKey | undefined): boolean {
  return (
    key !== undefined &&
    [
      key.auto_cache || null,
      key.tokens_per_minute,
      key.calls_at_once,
      key.cache_seconds,
      key.ip_allowlist,
      key.expires_at,
      ...CAP_FIELDS.map((field) => key[field]),
    ].some((limit) => limit !== null)
  )
}
