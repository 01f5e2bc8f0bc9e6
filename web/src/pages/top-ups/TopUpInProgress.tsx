import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, Clock, ExternalLink } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { Spinner } from '../../components/Spinner.tsx'
import { explainError } from '../../api/explain-error.ts'
import { brl } from '../../format/brl.ts'
import { QrPicture } from '../../components/QrPicture.tsx'
import { TimeLeft } from './TimeLeft.tsx'
import { ReceiptLink } from './ReceiptLink.tsx'
import { TOP_UPS, topUpQuery, type TopUp } from './top-up-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function TopUpInProgress({
  id,
  onClose,
}: {
  readonly id: string
  readonly onClose: () => void
}) {
  const { data: topUp, error, isPending } = useQuery(topUpQuery(id))
  useFreshBalance(topUp)
  return (
    <Card
      title={
        topUp ? t('Recarga de {amountBrl}', { amountBrl: brl(topUp.amount_brl) }) : t('Recarga')
      }
    >
      {/* The status changes on its own, so screen readers announce it. */}
      <p role="status" className="sr-only">
        {topUp && STATUS_SENTENCES()[topUp.status]}
      </p>
      {isPending && <Skeleton className="h-64" />}
      {error && !topUp && (
        <Notice tone="danger" role="alert">
          {explainError(error)}
        </Notice>
      )}
      {topUp?.status === 'pending' && <HowToPay topUp={topUp} />}
      {topUp && topUp.status !== 'pending' && <Decided topUp={topUp} />}
      <div className="mt-6 flex flex-wrap gap-3">
        {topUp?.paid_at && <ReceiptLink id={topUp.id} />}
        <Button variant="secondary" onClick={onClose}>
          {topUp?.status === 'pending' ? t('Pagar depois') : t('Fazer outra recarga')}
        </Button>
      </div>
    </Card>
  )
}

/** A payment changes data on other pages: the balance, and keys that wait for one. */
function useFreshBalance(topUp: TopUp | undefined): void {
  const queries = useQueryClient()
  const before = useRef(topUp?.status)
  const status = topUp?.status
  useEffect(() => {
    if (before.current === 'pending' && status !== 'pending') void queries.invalidateQueries()
    else if (status !== undefined && before.current !== status)
      void queries.invalidateQueries({ queryKey: [...TOP_UPS, 'list'] })
    before.current = status
  }, [status, queries])
}

function HowToPay({ topUp }: { readonly topUp: TopUp }) {
  const { data: session } = useQuery(sessionQuery)
  if (session?.suspension && topUp.method !== 'card')
    return (
      <Notice tone="warning">
        {t('Não pague: a conta foi suspensa, e esta recarga está sendo cancelada.')}
      </Notice>
    )
  if (topUp.pix) return <PayByPix topUp={topUp} pix={topUp.pix} />
  if (topUp.boleto) return <PayByBoleto boleto={topUp.boleto} />
  return (
    <div className="grid gap-3">
      <p className="flex items-center gap-2 font-medium">
        <Clock aria-hidden="true" className="size-5 text-warning" />
        {topUp.method === 'card'
          ? t('O cartão está em análise.')
          : t('Estamos preparando o pagamento.')}
      </p>
      <p className="text-muted">
        {t('Não pague de novo: esta página se atualiza sozinha assim que houver uma resposta.')}
      </p>
      <PageLink url={topUp.page_url} />
    </div>
  )
}

function PayByPix({ topUp, pix }: { readonly topUp: TopUp; readonly pix: Pix }) {
  return (
    <div className="grid gap-6 sm:grid-cols-[auto_minmax(0,1fr)]">
      <QrPicture
        base64={pix.qr_code_base64}
        label={t('QR Code do Pix de {amountBrl}; ao lado há o código para copiar', {
          amountBrl: brl(topUp.amount_brl),
        })}
      />
      <div className="grid content-start gap-4">
        <ol className="list-decimal space-y-1 pl-5 text-sm text-muted">
          <li>{t('Abra o aplicativo do seu banco e escolha Pix.')}</li>
          <li>{t('Leia o QR Code ou cole o código abaixo.')}</li>
          <li>{t('Confirme. O saldo entra em segundos.')}</li>
        </ol>
        <div className="grid gap-2">
          <p id="codigo-pix" className="text-sm font-medium">
            {t('Pix copia e cola')}
          </p>
          <code
            aria-labelledby="codigo-pix"
            className="block max-h-24 overflow-y-auto rounded-lg bg-sunken p-3 text-sm break-all"
            tabIndex={0}
          >
            {pix.payload}
          </code>
          <CopyButton text={pix.payload} label={t('Copiar código Pix')} variant="primary" />
        </div>
        <Waiting />
        {pix.expires_at && <TimeLeft until={pix.expires_at} />}
        <PageLink url={topUp.page_url} />
      </div>
    </div>
  )
}

type Pix = NonNullable<TopUp['pix']>

function PayByBoleto({ boleto }: { readonly boleto: NonNullable<TopUp['boleto']> }) {
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">
        {t(
          'Pague no aplicativo do seu banco ou imprima. O saldo entra quando o banco confirma, em até 3 dias úteis.',
        )}
      </p>
      <div className="grid gap-2">
        <p id="linha-digitavel" className="text-sm font-medium">
          {t('Linha digitável')}
        </p>
        <code
          aria-labelledby="linha-digitavel"
          className="block rounded-lg bg-sunken p-3 text-sm break-all"
        >
          {boleto.line}
        </code>
        <CopyButton text={boleto.line} label={t('Copiar linha digitável')} variant="primary" />
      </div>
      <Waiting />
      <PageLink url={boleto.url} text={t('Abrir o boleto')} />
    </div>
  )
}

function Waiting() {
  return (
    <p className="flex items-center gap-2 text-sm text-muted">
      <Spinner />
      {t('Esperando o pagamento. Esta página se atualiza sozinha.')}
    </p>
  )
}

function PageLink({ url, text }: { readonly url: string | null; readonly text?: string }) {
  if (url === null) return null
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="inline-flex min-h-11 items-center gap-1.5 justify-self-start text-sm font-medium text-accent underline underline-offset-4"
    >
      {text ?? t('Abrir a página de pagamento')}
      <ExternalLink aria-hidden="true" className="size-4" />
      <span className="sr-only">{t('(abre em outra aba)')}</span>
    </a>
  )
}

function Decided({ topUp }: { readonly topUp: TopUp }) {
  const isPaid = topUp.paid_at !== null && topUp.status === 'paid'
  const Icon = isPaid ? CircleCheck : CircleAlert
  return (
    <div className="flex items-start gap-3">
      <Icon
        aria-hidden="true"
        className={`size-8 shrink-0 ${isPaid ? 'text-success' : 'text-warning'}`}
      />
      <div>
        <p className="text-lg font-semibold">{STATUS_SENTENCES()[topUp.status]}</p>
        {topUp.paid_at && (
          <p className="text-muted">
            <Trans
              id="Pago em {dateTime}."
              values={{ dateTime: <DateTime instant={topUp.paid_at} /> }}
            />
          </p>
        )}
      </div>
    </div>
  )
}

const STATUS_SENTENCES = perLanguage((): Readonly<Record<TopUp['status'], string>> => ({
  pending: t('Esperando o pagamento.'),
  paid: t('Pago. O saldo já está na sua conta.'),
  expired: t('Venceu sem pagamento. Faça uma nova recarga.'),
  canceled: t('Foi cancelada. Nada foi cobrado.'),
  failed: t('Não deu certo, e nada foi cobrado. Tente de novo ou use outro meio.'),
  refund_pending: t('Paga, com devolução em andamento.'),
  partially_refunded: t('Devolvida em parte.'),
  refunded: t('Devolvida.'),
  chargeback: t('Contestada junto ao emissor do cartão ou ao banco.'),
}))
