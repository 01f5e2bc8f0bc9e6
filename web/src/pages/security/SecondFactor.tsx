import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useToast } from '../../components/Toast.tsx'
import { counted } from '../../format/number.ts'
import { BackupCodes } from './BackupCodes.tsx'
import { FactorSetup } from './FactorSetup.tsx'
import {
  beginFactor,
  disableFactor,
  renewBackupCodes,
  SECURITY,
  type Security,
} from './security-queries.ts'
import type { WithProof } from './use-proof.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** Below this number the page recommends new codes. */
const FEW_CODES = 3

interface SecondFactorProps {
  readonly factor: Security['secondFactor']
  readonly withProof: WithProof
}

export function SecondFactor({ factor, withProof }: SecondFactorProps) {
  const queries = useQueryClient()
  const [codes, setCodes] = useState<readonly string[]>()
  const begin = useSubmit({ mutationFn: () => withProof(beginFactor) })
  const refresh = () => queries.invalidateQueries({ queryKey: SECURITY })
  const isOn = factor.enabledAt !== null

  return (
    <Card
      title={t('Verificação em duas etapas')}
      description={t('Além da senha ou do link por e-mail, um código do seu celular.')}
      actions={isOn && <Badge tone="success">{t('Ligada')}</Badge>}
    >
      {codes && (
        <BackupCodes
          codes={codes}
          onDone={() => {
            setCodes(undefined)
            void refresh()
          }}
        />
      )}
      {!codes && isOn && (
        <FactorIsOn
          factor={factor}
          withProof={withProof}
          onCodes={setCodes}
          onOff={() => {
            begin.reset()
            return refresh()
          }}
        />
      )}
      {!codes && !isOn && begin.data && (
        <FactorSetup
          secret={begin.data}
          withProof={withProof}
          onEnabled={(made) => {
            setCodes(made)
            begin.reset()
            void refresh()
          }}
          onCancel={() => begin.reset()}
        />
      )}
      {!codes && !isOn && !begin.data && (
        <div className="grid gap-4">
          {begin.error && (
            <Notice tone="danger" role="alert">
              {explainError(begin.error)}
            </Notice>
          )}
          <Button
            className="justify-self-start"
            isBusy={begin.isPending}
            onClick={() => begin.mutate()}
          >
            {t('Ligar verificação')}
          </Button>
        </div>
      )}
    </Card>
  )
}

interface FactorIsOnProps extends SecondFactorProps {
  readonly onCodes: (codes: readonly string[]) => void
  readonly onOff: () => Promise<void>
}

function FactorIsOn({ factor, withProof, onCodes, onOff }: FactorIsOnProps) {
  const toast = useToast()
  const [asked, setAsked] = useState<'off' | 'codes'>()
  const close = (): void => setAsked(undefined)
  const off = useSubmit({
    mutationFn: () => withProof(disableFactor),
    async onSuccess() {
      close()
      toast(t('Verificação em duas etapas desligada.'))
      await onOff()
    },
  })
  const renew = useSubmit({
    mutationFn: () => withProof(renewBackupCodes),
    onSuccess({ backupCodes }) {
      close()
      onCodes(backupCodes)
    },
  })
  const left = factor.backupCodesLeft
  return (
    <div className="grid gap-4">
      <p className="text-sm">
        <Trans
          id="Desde {dateTime}. {word}"
          values={{
            dateTime: <DateTime instant={factor.enabledAt ?? ''} />,
            word:
              left === 0
                ? t('Não há códigos de reserva: crie novos.')
                : `${counted(left, t('código de reserva resta'), t('códigos de reserva restam'))}.`,
          }}
        />
      </p>
      {left > 0 && left < FEW_CODES && (
        <Notice tone="warning">{t('Restam poucos códigos de reserva: crie novos.')}</Notice>
      )}
      <div className="flex flex-wrap gap-3">
        <Button variant="secondary" onClick={() => setAsked('codes')}>
          {t('Criar novos códigos de reserva')}
        </Button>
        <Button variant="secondary" onClick={() => setAsked('off')}>
          {t('Desligar')}
        </Button>
      </div>
      <ConfirmDialog
        isOpen={asked === 'off'}
        onClose={() => {
          close()
          off.reset()
        }}
        onConfirm={() => off.mutate()}
        title={t('Desligar a verificação em duas etapas?')}
        confirmText={t('Desligar verificação')}
        isBusy={off.isPending}
        error={off.error ? explainError(off.error) : undefined}
      >
        <p className="text-sm">
          {t(
            'Para entrar bastará a senha ou um link por e-mail. Os códigos de reserva deixam de valer.',
          )}
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === 'codes'}
        onClose={() => {
          close()
          renew.reset()
        }}
        onConfirm={() => renew.mutate()}
        title={t('Criar novos códigos de reserva?')}
        confirmText={t('Criar códigos')}
        variant="primary"
        isBusy={renew.isPending}
        error={renew.error ? explainError(renew.error) : undefined}
      >
        <p className="text-sm">{t('Os códigos que você guardou antes deixam de valer.')}</p>
      </ConfirmDialog>
    </div>
  )
}
