import { PageTitle } from '../../../components/PageTitle.tsx'
import { MailsInTrouble } from './MailsInTrouble.tsx'
import { WebhooksInTrouble } from './WebhooksInTrouble.tsx'

export function DeliveriesPage() {
  return (
    <>
      <PageTitle
        title="Entregas"
        description="E-mails e webhooks que não chegam a quem deveriam."
      />
      <div className="grid gap-5">
        <WebhooksInTrouble />
        <MailsInTrouble />
      </div>
    </>
  )
}
