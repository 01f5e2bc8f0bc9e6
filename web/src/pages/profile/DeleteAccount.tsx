import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { brl } from '../../format/brl.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** `confirmation`: the account's e-mail, or its name when it has no e-mail. The API checks it too. */
export function DeleteAccount({ confirmation }: { readonly confirmation: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const [waives, setWaives] = useState(false)
  const remove = useSubmit({
    mutationFn: () => api.deleteAccount({ confirm: confirmation, waive_balance: waives }),
    // A full page load, so that no data of the account stays in memory.
    onSuccess: () => window.location.assign('/entrar?conta=excluida'),
  })
  const remaining = balanceOf(remove.error)
  const close = (): void => {
    setIsOpen(false)
    setTyped('')
    setWaives(false)
    remove.reset()
  }
  return (
    <Card
      title={t('Excluir conta')}
      description={t(
        'Apaga seus dados pessoais e revoga todas as chaves, para sempre. Registros de cobranças ficam pelo prazo que a lei exige, sem o seu nome.',
      )}
    >
      <Button variant="danger" onClick={() => setIsOpen(true)}>
        {t('Excluir minha conta')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        onConfirm={() => remove.mutate()}
        title={t('Excluir sua conta para sempre?')}
        confirmText={t('Excluir para sempre')}
        isBusy={remove.isPending || remove.isSuccess}
        isDisabled={typed.trim() !== confirmation}
        error={remove.error && remaining === undefined ? explain(remove.error) : undefined}
      >
        <p className="text-sm">
          {t(
            'Suas chaves param de funcionar na hora. Não há como voltar atrás. Se quiser uma cópia dos seus dados, baixe antes.',
          )}
        </p>
        <Field
          label={
            <>
              <Trans id="Para confirmar, digite {confirmation}" values={{ confirmation }} />
            </>
          }
        >
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
        {remaining !== undefined && (
          <>
            <Notice tone="warning" role="alert">
              <Trans
                id="Ainda há {remaining} de saldo. {link} antes, ou abra mão dele."
                values={{
                  remaining: brl(remaining),
                  link: (
                    <Link to="/reembolsos" className="underline underline-offset-4">
                      {t('Peça o reembolso')}
                    </Link>
                  ),
                }}
              />
            </Notice>
            <Checkbox
              checked={waives}
              onChange={(event) => setWaives(event.target.checked)}
              label={t('Abro mão de {remaining}', { remaining: brl(remaining) })}
            />
          </>
        )}
      </ConfirmDialog>
    </Card>
  )
}

function explain(error: unknown): string {
  const code = error instanceof ApiError ? error.code : undefined
  if (code === 'calls_running')
    return t('Há chamadas em andamento. Espere terminarem e tente de novo.')
  if (code === 'refund_in_review')
    return t('Um reembolso está em análise. Exclua a conta depois da resposta.')
  return explainError(error)
}

/** The remaining balance, from the refusal. */
function balanceOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 'balance_remaining') return undefined
  const amount = /R\$ (\d+(?:,\d+)?)/.exec(error.details ?? '')?.[1]
  return amount === undefined ? undefined : Number(amount.replace(',', '.'))
}
