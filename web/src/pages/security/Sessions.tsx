import { useQueryClient } from '@tanstack/react-query'
import { MonitorSmartphone } from 'lucide-react'
import { useState } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { useToast } from '../../components/Toast.tsx'
import { counted } from '../../format/number.ts'
import { deviceWords } from './device-words.ts'
import { endOtherSessions, endSession, SECURITY, type SignedIn } from './security-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function Sessions({ sessions }: { readonly sessions: readonly SignedIn[] }) {
  const [ending, setEnding] = useState<SignedIn | 'others'>()
  const queries = useQueryClient()
  const toast = useToast()
  const end = useSubmit({
    mutationFn: async (which: SignedIn | 'others') => {
      if (which === 'others') return (await endOtherSessions()).ended
      await endSession(which.id)
      return 1
    },
    async onSuccess(ended) {
      setEnding(undefined)
      toast(`${counted(ended, t('sessão encerrada'), t('sessões encerradas'))}.`)
      await queries.invalidateQueries({ queryKey: SECURITY })
    },
  })
  const others = sessions.filter(({ isThis }) => !isThis)
  const inOrder = [...sessions.filter(({ isThis }) => isThis), ...others]
  return (
    <Card
      title={t('Onde sua conta está aberta')}
      description={t('Cada sessão vale por 14 dias. A que você encerrar é desconectada na hora.')}
      actions={
        others.length > 0 && (
          <Button variant="secondary" onClick={() => setEnding('others')}>
            {t('Encerrar todas as outras')}
          </Button>
        )
      }
    >
      <ul className="divide-y divide-line">
        {inOrder.map((session) => (
          <li key={session.id} className="flex flex-wrap items-center gap-3 py-3">
            <MonitorSmartphone aria-hidden="true" className="size-5 shrink-0 text-muted" />
            <div className="min-w-0 grow">
              <p className="flex flex-wrap items-center gap-2 font-medium">
                {deviceWords(session.userAgent)}
                {session.isThis && <Badge tone="accent">{t('Esta sessão')}</Badge>}
              </p>
              <p className="text-sm break-words text-muted">
                {session.ip !== null && <>{session.ip} · </>}
                <Trans
                  id="desde {dateTime}"
                  values={{ dateTime: <DateTime instant={session.createdAt} /> }}
                />
              </p>
            </div>
            {!session.isThis && (
              <Button
                variant="quiet"
                aria-label={t('Encerrar a sessão em {userAgent}, {ip}', {
                  userAgent: deviceWords(session.userAgent),
                  ip: session.ip ?? '',
                })}
                onClick={() => setEnding(session)}
              >
                {t('Encerrar')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <ConfirmDialog
        isOpen={ending !== undefined}
        onClose={() => {
          setEnding(undefined)
          end.reset()
        }}
        onConfirm={() => ending && end.mutate(ending)}
        title={
          ending === 'others' ? t('Encerrar todas as outras sessões?') : t('Encerrar esta sessão?')
        }
        confirmText={ending === 'others' ? t('Encerrar as outras') : t('Encerrar sessão')}
        isBusy={end.isPending}
        error={end.error ? explainError(end.error) : undefined}
      >
        <p className="text-sm">
          {t('Quem estiver lá terá de entrar de novo. Suas chaves de API continuam a funcionar.')}
        </p>
      </ConfirmDialog>
    </Card>
  )
}
