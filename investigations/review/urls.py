"""What a person says about a verdict. Each address shows its form on GET and saves it on POST."""

from django.urls import path

from investigations.review import views

urlpatterns = [
    path("confirm/", views.ConfirmView.as_view(), name="review-confirm"),
    path("override/", views.OverrideView.as_view(), name="review-override"),
    path("ambiguous/", views.AmbiguousView.as_view(), name="review-ambiguous"),
    path("cannot-tell/", views.CannotTellView.as_view(), name="review-cannot-tell"),
    path("label/", views.LabelView.as_view(), name="review-label"),
    path("unlabel/", views.UnlabelView.as_view(), name="review-unlabel"),
    path("comment/", views.CommentView.as_view(), name="review-comment"),
    path("assign/", views.AssignView.as_view(), name="review-assign"),
    path("retract/", views.RetractView.as_view(), name="review-retract"),
]
