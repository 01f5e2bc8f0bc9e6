/** The exchange rate set by hand, and taken back. */
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ERROR_TEXTS } from '../../../api/error-texts.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { percent } from '../../../format/number.ts'
import { parseAmount } from '../../../format/parse-amount.ts'
import { t } from '../../../language/t.ts'
import { SERVICE, useAct } from '../use-act.ts'
import { rateWords, type Rate } from './fx-rates.ts'

/** The server refuses a larger change: it takes the command line. */
const JUMP_PERCENT_MAX = 20
const RATE_MAX = 99.9999

export function SetRate({ current }: { readonly current: Rate | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [reason, setReason] = useState('')
  const rate = parseAmount(text, 4)
  const change = current && rate !== undefined ? (rate / current.rate - 1) * 100 : undefined
  const isValid = rate !== undefined && rate > 0 && rate <= RATE_MAX && reason.trim().length >= 3
  const close = (): void => setOpen(false)
  const set = useAct({
    act: (_input, once) =>
      api.post('/admin/fx-rates', { rate: rate ?? 0, reason: reason.trim() }, { once }),
    doneText: ({ in_force: { rate: now } }) =>
      t('Câmbio em vigor: R$ {rate} por US$.', { rate: rateWords(now) }),
    onDone() {
      setText('')
      setReason('')
      close()
    },
    changes: [SERVICE],
  })
  const isUnlikely = change !== undefined && Math.abs(change) > JUMP_PERCENT_MAX
  return (
    <>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        {t('Definir à mão')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        onConfirm={() => set.mutate()}
        title={t('Definir o câmbio à mão')}
        confirmText={t('Definir câmbio')}
        variant="primary"
        isBusy={set.isPending}
        isDisabled={!isValid || isUnlikely}
        error={set.error ? explainError(set.error) : undefined}
      >
        <p className="text-sm text-muted">
          {t(
            'Vale para toda chamada a partir de agora, até a próxima PTAX de um dia mais novo. O que já foi cobrado não muda.',
          )}
        </p>
        <Field
          label={t('R$ por US$')}
          hint={
            current &&
            (change === undefined
              ? t('Agora: {rate}.', { rate: rateWords(current.rate) })
              : t('Agora: {rate}; muda {change}.', {
                  rate: rateWords(current.rate),
                  change: percent(change),
                }))
          }
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              autoComplete="off"
              maxLength={10}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <ReasonField value={reason} onChange={setReason} />
        {isUnlikely && (
          <Notice tone="warning" role="status">
            {ERROR_TEXTS().fx_rate_unlikely}
          </Notice>
        )}
      </ConfirmDialog>
    </>
  )
}

/** Only for the rate in force, and one that was set by hand. */
export function WithdrawRate({ rate }: { readonly rate: Rate }) {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const close = (): void => setOpen(false)
  const withdraw = useAct({
    act: (_input, once) =>
      api.post(
        '/admin/fx-rates/{id}/withdraw',
        { reason: reason.trim() },
        { path: { id: String(rate.id) }, once },
      ),
    doneText: ({ in_force: { rate: now } }) =>
      t('Câmbio em vigor: R$ {rate} por US$.', { rate: rateWords(now) }),
    onDone() {
      setReason('')
      close()
    },
    changes: [SERVICE],
  })
  return (
    <>
      <Button variant="quiet" onClick={() => setOpen(true)}>
        {t('Retirar esta taxa')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        onConfirm={() => withdraw.mutate()}
        title={t('Retirar a taxa de R$ {rate}?', { rate: rateWords(rate.rate) })}
        confirmText={t('Retirar taxa')}
        isBusy={withdraw.isPending}
        isDisabled={reason.trim().length < 3}
        error={withdraw.error ? explainError(withdraw.error) : undefined}
      >
        <p className="text-sm text-muted">
          {t('A taxa de antes volta a valer. O que já foi cobrado com esta não muda.')}
        </p>
        <ReasonField value={reason} onChange={setReason} />
      </ConfirmDialog>
    </>
  )
}

function ReasonField(props: {
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <Field label={t('Motivo')} hint={t('Fica na auditoria.')}>
      {(control) => (
        <Input
          {...control}
          value={props.value}
          maxLength={500}
          autoComplete="off"
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
