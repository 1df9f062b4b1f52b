/**
 * Names of HubSpot's objects and of their properties, from its documentation and from descriptions of accounts. Accounts
 * have further ones.
 */
import { createStandardNames } from '../object-support.ts';

/** The names of properties that every object has. */
const COMMON_FIELDS = `
  hs_all_owner_ids hs_createdate hs_created_by_user_id hs_lastmodifieddate hs_merged_object_ids hs_object_id
  hs_object_source hs_updated_by_user_id hubspot_owner_assigneddate hubspot_owner_id hubspot_team_id`;

/** The names of further properties by object. Objects without a list have unknown properties. */
const FIELDS = {
  contacts: `
    address annualrevenue associatedcompanyid associatedcompanylastupdated city closedate company company_size country
    createdate currentlyinworkflow date_of_birth days_to_close degree email engagements_last_meeting_booked
    engagements_last_meeting_booked_campaign engagements_last_meeting_booked_medium
    engagements_last_meeting_booked_source fax field_of_study first_conversion_date first_conversion_event_name
    first_deal_created_date firstname followercount gender graduation_date hs_analytics_first_timestamp
    hs_analytics_first_url hs_analytics_last_timestamp hs_analytics_last_url hs_analytics_num_page_views
    hs_analytics_num_visits hs_analytics_source hs_analytics_source_data_1 hs_analytics_source_data_2 hs_buying_role
    hs_country_region_code hs_email_bounce hs_email_click hs_email_delivered hs_email_domain hs_email_hard_bounce_reason
    hs_email_last_click_date hs_email_last_open_date hs_email_last_send_date hs_email_open hs_email_optout
    hs_email_replied hs_full_name_or_email hs_ip_timezone hs_is_unworked hs_language hs_last_sales_activity_timestamp
    hs_latest_source hs_latest_source_data_1 hs_latest_source_data_2 hs_latest_source_timestamp hs_lead_status
    hs_legal_basis hs_linkedin_url hs_marketable_status hs_persona hs_predictivecontactscore_v2 hs_role
    hs_sales_email_last_clicked hs_sales_email_last_opened hs_sales_email_last_replied hs_seniority hs_state_code
    hs_sub_role hs_timezone hubspotscore industry ip_city ip_country ip_country_code ip_latlon ip_state ip_state_code
    ip_zipcode job_function jobtitle kloutscoregeneral lastmodifieddate lastname lifecyclestage linkedinbio
    linkedinconnections marital_status message military_status mobilephone notes_last_contacted notes_last_updated
    notes_next_activity_date num_associated_deals num_contacted_notes num_conversion_events num_notes
    num_unique_conversion_events numemployees owneremail ownername phone photo recent_conversion_date
    recent_conversion_event_name recent_deal_amount recent_deal_close_date relationship_status salutation school
    seniority start_date state surveymonkeyeventlastupdated total_revenue twitterbio twitterhandle twitterprofilephoto
    webinareventlastupdated website work_email zip`,
  companies: `
    about_us address address2 annualrevenue city closedate country createdate days_to_close description domain
    engagements_last_meeting_booked engagements_last_meeting_booked_campaign engagements_last_meeting_booked_medium
    engagements_last_meeting_booked_source facebook_company_page facebookfans first_contact_createdate
    first_conversion_date first_conversion_event_name first_deal_created_date founded_year googleplus_page
    hs_additional_domains hs_analytics_first_timestamp hs_analytics_last_timestamp hs_analytics_num_page_views
    hs_analytics_num_visits hs_analytics_source hs_analytics_source_data_1 hs_analytics_source_data_2
    hs_annual_revenue_currency_code hs_avatar_filemanager_key hs_country_code hs_csm_sentiment hs_employee_range
    hs_ideal_customer_profile hs_industry_group hs_is_target_account hs_keywords hs_last_sales_activity_timestamp
    hs_lead_status hs_linkedin_handle hs_logo_url hs_num_child_companies hs_num_open_deals hs_parent_company_id
    hs_quick_context hs_revenue_range hs_state_code hs_target_account hs_total_deal_value hubspotscore industry
    is_public lifecyclestage linkedin_company_page linkedinbio name notes_last_contacted notes_last_updated
    notes_next_activity_date num_associated_contacts num_associated_deals num_contacted_notes num_conversion_events
    num_notes numberofemployees owneremail ownername phone recent_conversion_date recent_conversion_event_name
    recent_deal_amount recent_deal_close_date state timezone total_money_raised total_revenue twitterbio
    twitterfollowers twitterhandle type web_technologies website zip`,
  deals: `
    amount amount_in_home_currency closed_lost_reason closed_won_reason closedate createdate days_to_close
    deal_currency_code dealname dealstage dealtype description engagements_last_meeting_booked
    engagements_last_meeting_booked_campaign engagements_last_meeting_booked_medium
    engagements_last_meeting_booked_source hs_acv hs_analytics_latest_source hs_analytics_source
    hs_analytics_source_data_1 hs_analytics_source_data_2 hs_arr hs_campaign hs_closed_amount
    hs_closed_amount_in_home_currency hs_deal_amount_calculation_preference hs_deal_score hs_deal_stage_probability
    hs_exchange_rate hs_forecast_amount hs_forecast_probability hs_is_closed hs_is_closed_won hs_is_deal_split
    hs_latest_meeting_activity hs_line_item_global_term_hs_recurring_billing_period hs_manual_forecast_category hs_mrr
    hs_next_step hs_num_associated_deal_splits hs_priority hs_projected_amount hs_projected_amount_in_home_currency
    hs_tag_ids hs_tcv notes_last_contacted notes_last_updated notes_next_activity_date num_associated_contacts
    num_contacted_notes num_notes pipeline`,
  tickets: `
    closed_date content createdate created_by first_agent_reply_date hs_file_upload hs_in_helpdesk
    hs_last_email_activity hs_last_email_date hs_lastactivitydate hs_lastcontacted hs_nextactivitydate
    hs_num_times_contacted hs_pipeline hs_pipeline_stage hs_resolution hs_sales_email_last_replied hs_tag_ids
    hs_ticket_category hs_ticket_id hs_ticket_priority hs_time_to_close_sla_at hs_time_to_first_response_sla_at
    last_engagement_date last_reply_date notes_last_contacted notes_last_updated notes_next_activity_date
    num_contacted_notes num_notes source_ref source_thread_id source_type subject tags time_to_close
    time_to_first_agent_reply`,
  line_items: `
    amount description discount hs_discount_percentage hs_images hs_line_item_currency_code hs_position_on_quote
    hs_product_id hs_recurring_billing_end_date hs_recurring_billing_period hs_recurring_billing_start_date hs_sku
    hs_tax_rate_group_id hs_term_in_months hs_total_discount hs_url name price quantity recurringbillingfrequency tax`,
  products: `
    amount createdate description hs_cost_of_goods_sold hs_folder hs_images hs_product_type hs_recurring_billing_period
    hs_recurring_billing_start_date hs_sku hs_url name price recurringbillingfrequency tax`,
  quotes: `
    hs_currency hs_domain hs_esign_enabled hs_expiration_date hs_language hs_pdf_download_link hs_quote_amount
    hs_quote_link hs_quote_number hs_status hs_terms hs_title`,
  tasks: `
    hs_task_body hs_task_priority hs_task_reminders hs_task_status hs_task_subject hs_task_type hs_timestamp`,
  calls: `
    hs_activity_type hs_attachment_ids hs_call_body hs_call_callee_object_id hs_call_callee_object_type
    hs_call_direction hs_call_disposition hs_call_duration hs_call_from_number hs_call_recording_url hs_call_status
    hs_call_title hs_call_to_number hs_timestamp`,
  emails: `
    hs_attachment_ids hs_email_direction hs_email_headers hs_email_html hs_email_status hs_email_subject hs_email_text
    hs_timestamp`,
  meetings: `
    hs_activity_type hs_attachment_ids hs_internal_meeting_notes hs_meeting_body hs_meeting_end_time
    hs_meeting_external_url hs_meeting_location hs_meeting_outcome hs_meeting_start_time hs_meeting_title hs_timestamp`,
  notes: `
    hs_attachment_ids hs_note_body hs_timestamp`,
  communications: `
    hs_communication_body hs_communication_channel_type hs_communication_logged_from hs_timestamp`,
  postal_mail: `
    hs_attachment_ids hs_body_preview hs_postal_mail_body hs_timestamp`,
  leads: `
    hs_lead_label hs_lead_name hs_lead_type hs_pipeline hs_pipeline_stage`,
};

const OTHER_OBJECTS = `
  appointments carts courses discounts feedback_submissions fees goal_targets invoices listings orders
  payments projects services subscriptions taxes users`;

export const standardNames = createStandardNames(FIELDS, COMMON_FIELDS, OTHER_OBJECTS);
